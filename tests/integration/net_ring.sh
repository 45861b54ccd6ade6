#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Forwarding between two ports over net_ring: in by the capture of port 0, out to the ring of port 1,
# which loops back, in by port 1 and out to port 0's capture. Every packet passes Weir twice.
. "$(dirname "$0")/common.sh"

N=5000
traffic "$WORK/in.pcap" "$N"
# Small lanes: what can be on its way to the ring at once stays below the ring's 1024 entries.
weir_run_ok run --vdev "net_pcap0,rx_pcap=$WORK/in.pcap,tx_pcap=$WORK/out.pcap" --vdev net_ring0 \
	-- --workers 4 --lane-size 64 --overflow reject --handler forward --exit-idle 0.5 \
	--stats-period 0 --quiet --report "$WORK/run.json"
report_check_ledger run
report_check_nothing_dropped run
report_check run "r['received'] == 2 * $N" "r['tx']['sent'] == 2 * $N" \
	"{q['port']: q['received'] for q in r['rx']} == {0: $N, 1: $N}"
captures_found "$WORK/in.pcap" "$WORK/out.pcap"
