#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the flow fuzzer for a bounded number of executions from a corpus made of the captures, if
# there are any, in a folder that is thrown away.
#   FUZZ_FLOW, FLOW_CORPUS: the two programs; FUZZ_RUNS: executions, FUZZ_SEED: of the fuzzer
set -eu -o pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/seeds" "$work/found"

status=0
"$FLOW_CORPUS" "$work/seeds" || status=$?
[ "$status" = 0 ] || [ "$status" = 77 ] || exit "$status"

# What the fuzzer says goes to a file: it has a line for each new path.
cd "$work"
if ! "$FUZZ_FLOW" -runs="${FUZZ_RUNS:-300000}" -seed="${FUZZ_SEED:-1}" -max_len=1024 found seeds \
	2>"$work/log"; then
	tail -n 60 "$work/log"
	exit 1
fi
grep -E 'INITED|DONE' "$work/log"
