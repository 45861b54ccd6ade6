#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A live wire, received by net_af_packet: all that tcpreplay sends reaches the workers' files.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/../support/netns.sh"
. "$(dirname "$0")/live_wire.sh"

netns_create
# Neither fragments nor two tags: the driver has the kernel reassemble fragments (its fanout asks for
# it) and writes every outer tag back as 0x8100.
live_wire "net_af_packet0,iface=$NETNS_IFACE" --mix tcp=40,udp=20,dns=15,ipv6=25
