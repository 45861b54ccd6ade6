#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Per-flow order on the wire: workers of very uneven speed, and packets of a flow still leave the
# port in the order in which they came, while flows do move; without order they do not stay so.
. "$(dirname "$0")/common.sh"
: "${STAMP_ORDER:?}"

N=20000
# Fragments and whole datagrams of one connection are two flows by design; these have none.
traffic "$WORK/in.pcap" "$N" --mix tcp=40,udp=30,dns=10,vlan=10,ipv6=10

run_uneven() { # NAME OPTION...
	local name=$1

	shift
	weir_run_ok "$name" --vdev "net_pcap0,rx_pcap=$WORK/in.pcap,tx_pcap=$WORK/$name.pcap" -- \
		--workers 4 --lane-size 64 --overflow reject --handler burn:bimodal:90:200:20000 \
		--handler 1=burn:exp:8000 --exit-idle 0.5 --stats-period 0 --quiet \
		--report "$WORK/$name.json" "$@"
	report_check_ledger "$name"
	report_check "$name" "r['tx']['sent'] == $N"
	"$STAMP_ORDER" "$WORK/$name.pcap" >"$WORK/$name.order" || fail "stamp_order"
	echo "$name: $(cat "$WORK/$name.order")"
}

inversions() { # NAME
	awk '{ print $6 }' "$WORK/$1.order"
}

for strategy in shallowest round-robin random; do
	run_uneven "$strategy" --strategy "$strategy"
	assert_equal "inversions under $strategy" 0 "$(inversions "$strategy")"
	report_check "$strategy" "r['order'] == 'flow'" "r['moves'] > 50" \
		"all(w['completed'] > $N // 50 for w in r['workers'])"
done
run_uneven sticky --sticky 500
assert_equal "inversions with --sticky" 0 "$(inversions sticky)"
run_uneven rendezvous --strategy rendezvous
assert_equal "inversions under rendezvous" 0 "$(inversions rendezvous)"
report_check rendezvous "r['moves'] == 0"

# The check can fail: sprayed packets overtake each other.
run_uneven sprayed --order none
[ "$(inversions sprayed)" -gt 0 ] || fail "order none: not one packet has overtaken another"
