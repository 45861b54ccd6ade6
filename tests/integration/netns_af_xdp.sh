#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A live wire, received by net_af_xdp: all that tcpreplay sends reaches the workers' files. With worker
# processes as well, though that driver takes no memory that processes share.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/../support/netns.sh"
. "$(dirname "$0")/live_wire.sh"

netns_create
# AF_XDP is address family 44; Python has no name for it.
"$PYTHON" -c 'import socket; socket.socket(44, socket.SOCK_RAW)' 2>"$WORK/socket.err" ||
	skip "the kernel lacks AF_XDP: $(tail -n 1 "$WORK/socket.err")"
live_wire "net_af_xdp0,iface=$NETNS_IFACE"

LIVE_OPTIONS=(--worker-mode process --attach-socket "$WORK/attach.sock")
live_wire "net_af_xdp0,iface=$NETNS_IFACE"
assert_equal "times that copying is said" 1 "$(grep -c "copied on arrival" "$WORK/sink.err")"
