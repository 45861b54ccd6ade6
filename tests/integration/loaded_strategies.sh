#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Strategies from files, custom:FILE.so and bpf:FILE.o: the examples steer real packets (A12), in
# `weir` and in `weir why`; what cannot be loaded is refused before a packet moves.
. "$(dirname "$0")/common.sh"
: "${WARM_UP_SO:?}" "${WEIGHTED_SO:?}" "${TEST_PLUGINS:?}" "${WEIR_HAS_BPF:?}"

N=300
traffic "$WORK/in.pcap" "$N"

# steered NAME STRATEGY [OPTION...]: 4 workers, packet by packet.
steered() {
	weir_run_ok "$1" --vdev "net_pcap0,rx_pcap=$WORK/in.pcap,tx_pcap=$WORK/$1.pcap" -- \
		--workers 4 --order none --overflow reject --exit-idle 0.3 --stats-period 0 \
		--report "$WORK/$1.json" --strategy "$2" "${@:3}"
	report_check_ledger "$1"
	report_check_nothing_dropped "$1"
	report_check "$1" "r['received'] == $N" "r['strategy'] == '$2'"
	assert_contains "$1: the head" "$(cat "$WORK/$1.out")" "$2: "
	captures_found "$WORK/in.pcap" "$WORK/$1.pcap"
}

received_by_worker() { # NAME
	report "$1" "','.join(str(w['received']) for w in r['workers'])"
}

# refused STRATEGY REASON
refused() {
	weir_run refused --vdev "net_pcap0,rx_pcap=$WORK/in.pcap,tx_pcap=$WORK/moved.pcap" -- \
		--stats-period 0 --exit-idle 0.2 --strategy "$1"
	assert_equal "$1: exit status" 2 "$WEIR_STATUS"
	assert_equal "$1: lines on stderr" 1 "$(wc -l <"$WORK/refused.err")"
	assert_contains "$1" "$(cat "$WORK/refused.err")" "weir: --strategy $1: $2"
	[ ! -e "$WORK/moved.pcap" ] || fail "$1: packets moved"
}

# why_says STRATEGY PATTERN
why_says() {
	timeout -k 5 "$RUN_SECONDS" "$WEIR_BINARY" why "$WORK/in.pcap" --summary --order none \
		--strategy "$1" >"$WORK/why.out" 2>&1 || fail "why $1: $(cat "$WORK/why.out")"
	assert_contains "why $1" "$(cat "$WORK/why.out")" "$2"
}

# 100 for worker 0, then 200 round-robin over four.
steered warm_up "custom:$WARM_UP_SO"
assert_equal "warm-up" 150,50,50,50 "$(received_by_worker warm_up)"
steered weighted "custom:$WEIGHTED_SO" --weights 2,1,1,2
assert_equal "weights" 100,50,50,100 "$(received_by_worker weighted)"
why_says "custom:$WARM_UP_SO" "the first worker for 100 packets"

refused custom:/nonexistent.so "No such file"
refused "custom:$TEST_PLUGINS/version.so" "is built for version 99 of the strategy ABI"
refused "custom:$TEST_PLUGINS/crash.so" "crashed with signal 11 in the trial"
refused "custom:$TEST_PLUGINS/loop.so" "took longer than 2 s in the trial"
refused "custom:$TEST_PLUGINS/seven.so" "picked position 7 of 3 workers"

if [ "$WEIR_HAS_BPF" = 0 ]; then
	echo "eBPF is left out: there was no clang to compile the programs"
	exit 0
fi
steered warm_up_bpf "bpf:$WARM_UP_BPF"
assert_equal "warm-up by eBPF" 150,50,50,50 "$(received_by_worker warm_up_bpf)"
steered weighted_bpf "bpf:$WEIGHTED_BPF" --weights 2,1,1,2
assert_equal "weights by eBPF" 100,50,50,100 "$(received_by_worker weighted_bpf)"
steered jset "bpf:$TEST_PLUGINS/jset.bpf.o"
assert_contains "a program with bit tests" "$(cat "$WORK/jset.out")" interpreted
why_says "bpf:$WARM_UP_BPF" "eBPF, "

refused "bpf:$TEST_PLUGINS/loop.bpf.o" "refused by rte_bpf: validate("
refused "bpf:$TEST_PLUGINS/deep_branches.bpf.o" "took longer than 2 s in the trial"
refused "bpf:$WARM_UP_SO" "is no eBPF object file"
