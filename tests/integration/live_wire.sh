# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Sourced by the tests of live ports: the same two runs whatever the port. Needs common.sh and
# netns.sh.
# shellcheck disable=SC2034 # common.sh reads WEIR_WRAPPER and RUN_SECONDS

LIVE_PACKETS=4000
LIVE_PPS=6000 # slow enough that a port's ring outlasts the time slices of a busy machine

# True once Weir has received at least $1 packets.
live_received() {
	telemetry /weir/info >"$WORK/live.json" &&
		[ "$(json "$WORK/live.json" "r['/weir/info']['received']")" -ge "$1" ]
}

live_replay_and_stop() {
	netns_replay "$WORK/in.pcap" "$LIVE_PPS"
	wait_until "all $LIVE_PACKETS packets have arrived" live_received "$LIVE_PACKETS"
	kill -s TERM "$WEIR_PID"
	weir_wait
	assert_equal "$RUN_NAME: exit status" 0 "$WEIR_STATUS"
	report_check_ledger "$RUN_NAME"
	report_check_nothing_dropped "$RUN_NAME"
	report_check "$RUN_NAME" "r['received'] == $LIVE_PACKETS"
}

live_wire() { # VDEV TRAFFIC-OPTION...
	local vdev=$1

	shift
	WEIR_WRAPPER=(ip netns exec "$NETNS_B")
	RUN_SECONDS=30
	traffic "$WORK/in.pcap" "$LIVE_PACKETS" "$@"

	weir_start sink --vdev "$vdev" -- --workers 4 --handler "pcap:$WORK/sink" --stats-period 0 \
		--report "$WORK/sink.json"
	live_replay_and_stop
	captures_found "$WORK/in.pcap" "$WORK/sink"/worker-{0,1,2,3}.pcap

	# Back out by the same wire: what Weir sends is counted by the kernel on the other side.
	weir_start echo --vdev "$vdev" -- --workers 4 --handler swap-mac --stats-period 0 \
		--report "$WORK/echo.json"
	before=$(live_sender_received)
	live_replay_and_stop
	report_check echo "r['tx']['sent'] == $LIVE_PACKETS"
	assert_equal "packets that came back" "$LIVE_PACKETS" $(($(live_sender_received) - before))
}

live_sender_received() {
	ip netns exec "$NETNS_A" cat "/sys/class/net/$NETNS_IFACE/statistics/rx_packets"
}
