#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the fuzzer of rules for a bounded number of executions, from a few texts and frames, in a
# folder that is thrown away.
#   FUZZ_RULE: the program; FUZZ_RUNS: executions, FUZZ_SEED: of the fuzzer
set -eu -o pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/seeds" "$work/found"
cd "$work"

n=0
while IFS= read -r text; do
	printf ' %s' "$text" >"seeds/text$((n++))"
done <<'TEXTS'
udp port 53 => first,last police:1000:20 serial retry:2 overflow:drop-new
=> drop
tcp => kernel police:5
ip => discard-later
ip => cover-early shallowest urgent
TEXTS
# Ethernet, two VLAN tags, IPv4, TCP; Ethernet, IPv6, UDP.
printf '!\2\0\0\0\0\1\2\0\0\0\0\2\x88\xa8\0\7\x81\0\0\7\10\0E\0\0(\0\0\0\0@\6\0\0\12\0\0\1\12\0\0\2\0\1\0P%020d' 0 \
	>seeds/frame4
printf '!\2\0\0\0\0\1\2\0\0\0\0\2\x86\xdd`\0\0\0\0\10\21@%032d\3\xe8\0\65\0\10\0\0' 0 >seeds/frame6

if ! "$FUZZ_RULE" -runs="${FUZZ_RUNS:-300000}" -seed="${FUZZ_SEED:-1}" -max_len=512 found seeds \
	2>"$work/log"; then
	tail -n 60 "$work/log"
	exit 1
fi
grep -E 'INITED|DONE' "$work/log"
