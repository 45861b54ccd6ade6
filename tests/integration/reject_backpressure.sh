#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Slow workers behind tiny lanes, --overflow reject and an input that ends: the rx core waits for the
# workers instead of dropping, and every packet comes out once.
. "$(dirname "$0")/common.sh"

traffic "$WORK/in.pcap" 3000
weir_run_ok run --vdev "net_pcap0,rx_pcap=$WORK/in.pcap,tx_pcap=$WORK/out.pcap" -- \
	--workers 4 --lane-size 4 --overflow reject --handler wait:200000 --exit-idle 0.5 \
	--stats-period 0 --quiet --report "$WORK/run.json"
report_check_ledger run
report_check_nothing_dropped run
report_check run 'r["received"] == 3000' 'r["tx"]["sent"] == 3000' 'r["rejected"] > 0' \
	'all(w["max_depth"] <= 4 for w in r["workers"])'
captures_found "$WORK/in.pcap" "$WORK/out.pcap"
