#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The three ways to stop without a signal: a number of packets, a time, and silence.
. "$(dirname "$0")/common.sh"

# --packets: to the packet, with a generator that never ends and a limit that no burst divides.
weir_run_ok packets --vdev net_null0 -- --workers 2 --rx-cores 1 --packets 100003 \
	--overflow reject --stats-period 0 --quiet --report "$WORK/packets.json"
report_check_ledger packets
report_check packets 'r["received"] == 100003'
report_check_nothing_dropped packets

weir_run_ok one_packet --vdev net_null0 -- --workers 2 --rx-cores 1 --packets 1 \
	--stats-period 0 --quiet --report "$WORK/one_packet.json"
report_check_ledger one_packet
report_check one_packet 'r["received"] == 1' 'r["completed"] == 1'

# --duration: under load that would go on for ever.
weir_run_ok duration --vdev net_null0 -- --workers 2 --duration 0.5 --stats-period 0 --quiet \
	--report "$WORK/duration.json"
report_check_ledger duration
report_check duration 'r["received"] > 0' 'r["duration_s"] >= 0.5'

# --exit-idle: the whole input first, then the end; and an input that never says anything.
traffic "$WORK/in.pcap" 2000
weir_run_ok idle --vdev "net_pcap0,rx_pcap=$WORK/in.pcap" -- --workers 2 --exit-idle 0.3 \
	--overflow reject --stats-period 0 --quiet --report "$WORK/idle.json"
report_check_ledger idle
report_check idle 'r["received"] == 2000' 'r["completed"] == 2000'
weir_run_ok silent --vdev net_ring0 -- --workers 2 --exit-idle 0.3 --stats-period 0 --quiet \
	--report "$WORK/silent.json"
report_check_ledger silent
report_check silent 'r["received"] == 0'

# Whichever comes first.
weir_run_ok first --vdev net_null0 -- --workers 2 --rx-cores 1 --packets 500 --duration 30 \
	--exit-idle 30 --stats-period 0 --quiet --report "$WORK/first.json"
report_check first 'r["received"] == 500' 'r["duration_s"] < 30'
