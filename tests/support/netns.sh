# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Sourced by tests that need a live wire: two network namespaces joined by a veth pair on which
# nothing but the test speaks. Needs tests/integration/common.sh before it. Knows nothing of Weir.

NETNS_A=weir-test-$$-a # the sender's side
NETNS_B=weir-test-$$-b # the side of the program under test
NETNS_IFACE=wire0      # the same name on both sides

netns_destroy() {
	ip netns del "$NETNS_A" 2>/dev/null
	ip netns del "$NETNS_B" 2>/dev/null
}

# One end: no IPv6 (its router solicitations would be packets too many), no ARP, no offloads (the
# receiver must see the frames that the sender wrote).
netns_end_prepare() {
	ip netns exec "$1" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 2>/dev/null
	ip -n "$1" link set "$NETNS_IFACE" arp off mtu 1500 &&
		ip netns exec "$1" ethtool -K "$NETNS_IFACE" tx off gro off gso off tso off >/dev/null &&
		ip -n "$1" link set "$NETNS_IFACE" up
}

netns_create() {
	[ "$(id -u)" = 0 ] || skip "network namespaces need root"
	cleanup_add netns_destroy
	if ! ip netns add "$NETNS_A" 2>"$WORK/netns.err"; then
		skip "the kernel lacks network namespaces: $(cat "$WORK/netns.err")"
	fi
	ip netns add "$NETNS_B" || fail "a second network namespace cannot be made"
	if ! ip link add "$NETNS_IFACE" netns "$NETNS_A" type veth peer name "$NETNS_IFACE" \
		netns "$NETNS_B" 2>"$WORK/netns.err"; then
		skip "the kernel lacks veth: $(cat "$WORK/netns.err")"
	fi
	netns_end_prepare "$NETNS_A" || fail "the sender's end of the veth pair does not start"
	netns_end_prepare "$NETNS_B" || fail "the receiver's end of the veth pair does not start"
}

# netns_replay FILE PACKETS_PER_SECOND: sends a capture from the sender's side, once.
netns_replay() {
	command -v tcpreplay >/dev/null || fail "tcpreplay is not installed"
	ip netns exec "$NETNS_A" tcpreplay --quiet --intf1="$NETNS_IFACE" --pps="$2" "$1" \
		>"$WORK/tcpreplay.out" 2>&1 || fail "tcpreplay: $(cat "$WORK/tcpreplay.out")"
}
