# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Sourced by tests whose packets must not come before something else has happened: a capture out of
# a pipe, $WORK/pipe for net_pcap's rx_pcap. Its header comes at once, so that Weir starts; its
# packets when they are let go. Needs tests/integration/common.sh before it.

FEEDER_PID=

feeder_kill() {
	[ -z "$FEEDER_PID" ] || kill -KILL "$FEEDER_PID" 2>/dev/null
}

feeder_start() { # FILE
	cleanup_add feeder_kill
	rm -f "$WORK/go" "$WORK/pipe"
	mkfifo "$WORK/pipe"
	{
		head -c 24 "$1"
		until [ -e "$WORK/go" ]; do
			sleep 0.05
		done
		tail -c +25 "$1"
	} >"$WORK/pipe" &
	FEEDER_PID=$!
}

# Lets the packets go.
feeder_go() {
	touch "$WORK/go"
}

# Waits until all are in the pipe or taken from it.
feeder_wait() {
	wait "$FEEDER_PID"
	FEEDER_PID=
}
