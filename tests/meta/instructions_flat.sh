#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Instructions per packet of weir_dispatch do not grow with the pool: bursts of one on an idle pool,
# 4 to 256 workers, within 2 %. Counted by callgrind: exact, whatever else the machine does.
# From meson: INSTRUCTIONS_DRIVER, the program that sends the packets.
set -u -o pipefail
export LC_ALL=C

: "${INSTRUCTIONS_DRIVER:?}"
N_PACKETS=2000
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT

fail() {
	echo "FAILED: $*"
	exit 1
}

command -v valgrind >/dev/null || fail "valgrind is not installed (tools/setup test)"

# Instructions within FUNCTION of a run with that many WORKERS.
instructions_count() { # FUNCTION WORKERS
	valgrind --tool=callgrind --toggle-collect="$1" --callgrind-out-file="$WORK/out" \
		"$INSTRUCTIONS_DRIVER" "$2" "$N_PACKETS" >"$WORK/log" 2>&1 ||
		fail "$2 workers: $(cat "$WORK/log")"
	awk '/^(summary|totals):/ { print $2; exit }' "$WORK/out"
}

smallest=
largest=
for workers in 4 16 64 256; do
	count=$(instructions_count weir_dispatch "$workers") || exit 1
	[ "${count:-0}" -gt "$N_PACKETS" ] || fail "$workers workers: nothing was counted"
	awk -v n="$workers" -v count="$count" -v packets="$N_PACKETS" \
		'BEGIN { printf "%d workers: %.2f instructions a packet\n", n, count / packets }'
	[ -n "$smallest" ] && [ "$smallest" -le "$count" ] || smallest=$count
	[ -n "$largest" ] && [ "$largest" -ge "$count" ] || largest=$count
done
# A count that could not grow proves nothing: creating a pool costs more the larger it is.
[ "$(instructions_count weir_pool_create 256)" -gt "$(instructions_count weir_pool_create 4)" ] ||
	fail "callgrind does not tell pools of 4 and 256 apart"
[ $((largest * 100)) -le $((smallest * 102)) ] ||
	fail "between $smallest and $largest instructions for $N_PACKETS packets: more than 2 % apart"
