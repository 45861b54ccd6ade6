# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Sourced by the tests of live ports: the same two runs whatever the port. Needs common.sh and
# netns.sh.
# shellcheck disable=SC2034 # common.sh reads WEIR_WRAPPER, RUN_SECONDS and TRAFFIC_SEED

# Sent as parts that even veth's ring of 256 holds, each once the one before has arrived: on a machine
# that is busy with other things nothing is lost for want of time, so every loss is a defect.
LIVE_PARTS=12
LIVE_PART_PACKETS=250
LIVE_PACKETS=$((LIVE_PARTS * LIVE_PART_PACKETS))
LIVE_PPS=8000
LIVE_OPTIONS=() # of Weir, for both runs

# True once Weir has received at least $1 packets.
live_received() {
	telemetry /weir/info >"$WORK/live.json" &&
		[ "$(json "$WORK/live.json" "r['/weir/info']['received']")" -ge "$1" ]
}

# Who lost packets, if any were lost: Weir's numbers and the kernel's.
test_diagnose() {
	echo "--- telemetry and both ends of the wire:"
	telemetry /weir/info /weir/rx /ethdev/stats,0
	ip -n "$NETNS_A" -s link show "$NETNS_IFACE"
	ip -n "$NETNS_B" -s link show "$NETNS_IFACE"
	ip netns exec "$NETNS_B" ethtool -S "$NETNS_IFACE"
}

live_replay_and_stop() {
	local part

	for ((part = 1; part <= LIVE_PARTS; part++)); do
		netns_replay "$WORK/part-$part.pcap" "$LIVE_PPS"
		wait_until "part $part of $LIVE_PARTS has arrived" \
			live_received $((part * LIVE_PART_PACKETS))
	done
	kill -s TERM "$WEIR_PID"
	weir_wait
	assert_equal "$RUN_NAME: exit status" 0 "$WEIR_STATUS"
	report_check_ledger "$RUN_NAME"
	report_check_nothing_dropped "$RUN_NAME"
	report_check "$RUN_NAME" "r['received'] == $LIVE_PACKETS"
}

live_wire() { # VDEV TRAFFIC-OPTION...
	local vdev=$1 part before

	shift
	WEIR_WRAPPER=(ip netns exec "$NETNS_B")
	RUN_SECONDS=30
	for ((part = 1; part <= LIVE_PARTS; part++)); do
		TRAFFIC_SEED=$part
		traffic "$WORK/part-$part.pcap" "$LIVE_PART_PACKETS" "$@"
	done
	"$PCAP_MERGE" "$WORK/in.pcap" "$WORK"/part-*.pcap >/dev/null || fail "pcap_merge"

	weir_start sink --vdev "$vdev" -- --workers 4 --handler "pcap:$WORK/sink" --stats-period 0 \
		${LIVE_OPTIONS[@]+"${LIVE_OPTIONS[@]}"} \
		--report "$WORK/sink.json"
	live_replay_and_stop
	captures_found "$WORK/in.pcap" "$WORK/sink"/worker-{0,1,2,3}.pcap

	# Back out by the same wire: what Weir sends is counted by the kernel on the other side.
	weir_start echo --vdev "$vdev" -- --workers 4 --handler swap-mac --stats-period 0 \
		${LIVE_OPTIONS[@]+"${LIVE_OPTIONS[@]}"} \
		--report "$WORK/echo.json"
	before=$(live_sender_received)
	live_replay_and_stop
	report_check echo "r['tx']['sent'] == $LIVE_PACKETS"
	assert_equal "packets that came back" "$LIVE_PACKETS" $(($(live_sender_received) - before))
}

live_sender_received() {
	ip netns exec "$NETNS_A" cat "/sys/class/net/$NETNS_IFACE/statistics/rx_packets"
}
