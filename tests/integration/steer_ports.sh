#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Workers that steer into ports: each port has the packets of its worker and no others, two workers
# may share one, what such a port receives is not taken in, and the other ports are paired as if it
# were not there. A port whose reader does not read shows at its worker.
. "$(dirname "$0")/common.sh"

N=4000
RING=1023 # packets that a ring of net_ring holds
KEY=--hash-key=000102030405060708090a0b0c0d0e0f
OWNERS=(--workers 4 --strategy rendezvous "$KEY" --overflow reject --exit-idle 0.3 --stats-period 0)
traffic "$WORK/in.pcap" "$N"
TRAFFIC_SEED=2
traffic "$WORK/other.pcap" 500

weir_run_ok files --vdev "net_pcap0,rx_pcap=$WORK/in.pcap" -- "${OWNERS[@]}" \
	--handler "pcap:$WORK/files"

# ---- a port each for workers 0 and 1, one for 2 and 3 together, by name and by number ----
weir_run_ok steered --vdev "net_pcap0,tx_pcap=$WORK/0.pcap,rx_pcap=$WORK/other.pcap" \
	--vdev "net_pcap1,rx_pcap=$WORK/in.pcap,tx_pcap=$WORK/wire.pcap" \
	--vdev "net_pcap2,tx_pcap=$WORK/1.pcap" --vdev "net_pcap3,tx_pcap=$WORK/23.pcap" -- \
	"${OWNERS[@]}" --handler port:net_pcap3 --handler 0=port:0 --handler 1=port:net_pcap2 \
	--report "$WORK/steered.json"
report_check_ledger steered
report_check_nothing_dropped steered
report_check steered "r['received'] == r['tx']['sent'] == $N" \
	"[q['port'] for q in r['rx']] == [1]" 'all(w["completed"] > 0 for w in r["workers"])'
captures_found --ordered-merge "$WORK/files/worker-0.pcap" "$WORK/0.pcap"
captures_found --ordered-merge "$WORK/files/worker-1.pcap" "$WORK/1.pcap"
captures_found "$WORK/in.pcap" "$WORK/0.pcap" "$WORK/1.pcap" "$WORK/23.pcap"
assert_equal "packets back on the wire" 0 "$(packets_in "$WORK/wire.pcap")"

# ---- the ports before and behind the steered one are a pair for the other workers ----
weir_run_ok paired --vdev "net_pcap0,rx_pcap=$WORK/in.pcap" \
	--vdev "net_pcap1,tx_pcap=$WORK/0.pcap" --vdev "net_pcap2,tx_pcap=$WORK/wire.pcap" -- \
	"${OWNERS[@]}" --handler forward --handler 0=port:net_pcap1 --report "$WORK/paired.json"
report_check_ledger paired
captures_found --ordered-merge "$WORK/files/worker-0.pcap" "$WORK/0.pcap"
captures_found "$WORK/in.pcap" "$WORK/0.pcap" "$WORK/wire.pcap"

# ---- nobody reads: the port fills up, its worker is charged, no other ----
weir_run_ok unread --vdev "net_pcap0,rx_pcap=$WORK/in.pcap,tx_pcap=$WORK/wire.pcap" \
	--vdev net_ring0 -- --workers 2 --strategy round-robin --order none --overflow reject \
	--exit-idle 0.3 --stats-period 0 --handler 1=port:net_ring0 \
	--dead-packets "$WORK/unread.pcapng" --dead-sample 7 --report "$WORK/unread.json"
lost=$((N / 2 - RING))
report_check_ledger unread
report_check unread "r['tx'] == {'sent': $N // 2 + $RING, 'dropped': $lost}" \
	"r['dropped']['tx_full'] == sum(r['dropped'].values()) == $lost" \
	"r['workers'][1]['dropped']['tx_full'] == sum(r['workers'][1]['dropped'].values()) == $lost" \
	"sum(r['workers'][0]['dropped'].values()) == 0" \
	"all(w['completed'] == $N // 2 for w in r['workers'])"
assert_equal "the row of worker 1" "$lost" \
	"$(awk '$1 == "1" && NF == 9 { print $9; exit }' "$WORK/unread.out")"
assert_equal "worker of the dead packets" $(((lost + 6) / 7)) \
	"$(grep -c -a 'reason=tx_full worker=1 ' "$WORK/unread.pcapng")"
assert_equal "packets that the other worker forwarded" $((N / 2)) "$(packets_in "$WORK/wire.pcap")"
echo "every port has its workers' packets"
