#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Packets for all workers: each worker's file has every packet, each copy that was wanted is in the
# ledger, and what comes out of a port is every packet once per worker. With handlers that only
# read, which share the bytes, and with one that writes, which does not let the others see that.
. "$(dirname "$0")/common.sh"

N=3000
LANE=1024 # holds all that can be in flight here: nothing is dropped for a slow worker
traffic "$WORK/in.pcap" "$N"

for strategy in broadcast shard-broadcast; do
	weir_run_ok "$strategy" --vdev "net_pcap0,rx_pcap=$WORK/in.pcap" -- --workers 3 \
		--strategy "$strategy" --overflow reject --lane-size "$LANE" \
		--handler "pcap:$WORK/$strategy" --exit-idle 0.5 --stats-period 0 --quiet \
		--report "$WORK/$strategy.json"
	report_check_ledger "$strategy"
	report_check "$strategy" "r['received'] == $N" "r['copies'] == 2 * $N" \
		"r['completed'] == 3 * $N" 'sum(r["dropped"].values()) == 0' \
		"all(w['completed'] == $N for w in r['workers'])"
	for id in 0 1 2; do
		captures_found "$WORK/in.pcap" "$WORK/$strategy/worker-$id.pcap"
	done
done

# A writer among them: worker 0 swaps the addresses and sends, the others store what came in.
weir_run_ok writer --vdev "net_pcap0,rx_pcap=$WORK/in.pcap,tx_pcap=$WORK/writer.pcap" -- \
	--workers 3 --strategy broadcast --overflow reject --lane-size "$LANE" \
	--handler "pcap:$WORK/writer" --handler 0=swap-mac --exit-idle 0.5 --stats-period 0 --quiet \
	--report "$WORK/writer.json"
report_check_ledger writer
report_check writer "r['copies'] == 2 * $N" "r['completed'] == 3 * $N"
captures_found "$WORK/in.pcap" "$WORK/writer/worker-1.pcap"
captures_found "$WORK/in.pcap" "$WORK/writer/worker-2.pcap"
assert_equal "packets sent by the writer" "$N" "$(packets_in "$WORK/writer.pcap")"

# Clones to a port: three of each packet.
weir_run_ok clones --vdev "net_pcap0,rx_pcap=$WORK/in.pcap,tx_pcap=$WORK/clones.pcap" -- \
	--workers 3 --strategy broadcast --overflow reject --lane-size "$LANE" \
	--exit-idle 0.5 --stats-period 0 --quiet --report "$WORK/clones.json"
report_check_ledger clones
report_check clones "r['tx']['sent'] == 3 * $N"
assert_equal "packets sent by three forwarders" "$((3 * N))" "$(packets_in "$WORK/clones.pcap")"
