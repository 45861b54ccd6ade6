# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Sourced by tests in which other programs read what Weir's workers steer to them: a network
# namespace for Weir and one for each reader, and tcpdump as the reader. Needs
# tests/integration/common.sh before it.
# shellcheck disable=SC2034 # the tests read READERS_WEIR

READERS_WEIR=weir-test-$$-w # the namespace of the program under test
READERS_N=0
READERS_PID=()
READERS_FILE=()

reader_namespace() { # INDEX
	echo "weir-test-$$-r$1"
}

readers_destroy() {
	local i

	for ((i = 0; i < READERS_N; i++)); do
		[ -z "${READERS_PID[i]:-}" ] || kill -KILL "${READERS_PID[i]}" 2>/dev/null
		ip netns del "$(reader_namespace "$i")" 2>/dev/null
	done
	ip netns del "$READERS_WEIR" 2>/dev/null
}

readers_create() { # N
	local i

	[ "$(id -u)" = 0 ] || skip "network namespaces need root"
	[ -n "$(command -v tcpdump)" ] || skip "tcpdump is not installed"
	cleanup_add readers_destroy
	if ! ip netns add "$READERS_WEIR" 2>"$WORK/netns.err"; then
		skip "the kernel lacks network namespaces: $(cat "$WORK/netns.err")"
	fi
	for ((i = 0; i < $1; i++)); do
		READERS_N=$((i + 1))
		ip netns add "$(reader_namespace "$i")" || fail "no namespace for reader $i"
		reader_silence "$(reader_namespace "$i")"
	done
}

# Nothing speaks there of itself: no IPv6, whose router solicitations would be packets too many.
reader_silence() { # NAMESPACE
	ip netns exec "$1" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 2>/dev/null
}

# reader_listen INDEX IFACE FILE: tcpdump of what comes in by the reader's interface; returns once it
# listens. Every packet is in the file as soon as it was read. Its buffer has 16,384 places of 2 kB, more
# than any test sends: with longer ones a busy machine would lose packets.
reader_listen() {
	local namespace error="$WORK/reader-$1.err"

	namespace=$(reader_namespace "$1")
	ip -n "$namespace" link set "$2" arp off up || fail "$2 of reader $1 does not start"
	READERS_FILE[$1]=$3
	ip netns exec "$namespace" tcpdump -Z root -n -s 2048 -U --immediate-mode -B 32768 \
		-Q in --time-stamp-precision=nano -i "$2" -w "$3" >/dev/null 2>"$error" &
	READERS_PID[$1]=$!
	wait_until "reader $1 listens" grep -q 'listening on' "$error"
}

# Bytes of all packets that the readers have, less the files' headers.
readers_bytes() {
	local file sum=0

	for file in "${READERS_FILE[@]}"; do
		sum=$((sum + $(stat -c %s "$file") - 24))
	done
	echo "$sum"
}

# True once the readers together have a capture's packets so many times.
readers_have() { # FILE TIMES
	[ "$(readers_bytes)" -ge $((($(stat -c %s "$1") - 24) * $2)) ]
}

# Ends the readers, none of which may have lost a packet.
readers_stop() {
	local i

	for i in "${!READERS_PID[@]}"; do
		kill -s INT "${READERS_PID[i]}" 2>/dev/null
		wait "${READERS_PID[i]}"
		READERS_PID[i]=
		grep -q '^0 packets dropped by kernel' "$WORK/reader-$i.err" ||
			fail "reader $i: $(cat "$WORK/reader-$i.err")"
	done
}
