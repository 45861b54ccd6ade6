#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A TAP for each worker, each moved into a namespace of its own, where tcpdump reads: it gets the
# packets of its worker's flows, all and no others, in order; by owner and by depth. What a reader
# sends is not taken in.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/../support/feeder.sh"
. "$(dirname "$0")/../support/readers.sh"
: "${STAMP_ORDER:?}"

[ -c /dev/net/tun ] || skip "the kernel has no TAPs: /dev/net/tun is absent"
[ -n "$(command -v mergecap)" ] || skip "mergecap (of tshark) is not installed"
WORKERS=3
N=6000
KEY=--hash-key=000102030405060708090a0b0c0d0e0f
readers_create "$WORKERS"
# Fragments and whole datagrams of one connection are two flows by design; these have none.
traffic "$WORK/in.pcap" "$N" --mix tcp=40,udp=30,dns=10,vlan=10,ipv6=10

test_diagnose() {
	local i

	for ((i = 0; i < WORKERS; i++)); do
		cat "$WORK/reader-$i.err"
		ip -n "$(reader_namespace "$i")" -s link show "weir$i"
	done
}

# Sends some frames out by the reader's TAP, to Weir.
SPOKEN=5
reader_speaks() { # INDEX
	ip netns exec "$(reader_namespace "$1")" "$PYTHON" - "weir$1" "$SPOKEN" <<'PYTHON' ||
import socket, sys
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as speaker:
    speaker.bind((sys.argv[1], 0))
    for _ in range(int(sys.argv[2])):
        speaker.send(bytes(12) + b"\x88\xb5" + bytes(46))
PYTHON
		fail "reader $1 cannot send"
}

# steer NAME TIMES OPTION...: a run with a TAP for each worker; each packet goes to so many readers;
# reader i has $WORK/NAME-i.pcap.
steer() {
	local name=$1 times=$2 vdevs=() handlers=() i

	shift 2
	for ((i = 0; i < WORKERS; i++)); do
		vdevs+=(--vdev "net_tap$i,iface=weir$i")
		handlers+=(--handler "$i=port:net_tap$i")
	done
	# The TAPs are not there before Weir is: no packet may come before tcpdump listens.
	feeder_start "$WORK/in.pcap"
	# shellcheck disable=SC2034 # common.sh reads it
	WEIR_WRAPPER=(ip netns exec "$READERS_WEIR")
	weir_start "$name" --vdev "net_pcap0,rx_pcap=$WORK/pipe" "${vdevs[@]}" -- \
		--workers "$WORKERS" "${handlers[@]}" --overflow reject --stats-period 0 \
		--report "$WORK/$name.json" "$@"
	for ((i = 0; i < WORKERS; i++)); do
		ip -n "$READERS_WEIR" link set "weir$i" netns "$(reader_namespace "$i")" ||
			fail "weir$i cannot be moved"
		reader_listen "$i" "weir$i" "$WORK/$name-$i.pcap"
		reader_speaks "$i"
	done
	feeder_go
	wait_until "$name: the readers have all" readers_have "$WORK/in.pcap" "$times"
	feeder_wait
	readers_stop
	kill -s TERM "$WEIR_PID"
	weir_wait
	assert_equal "$name: exit status" 0 "$WEIR_STATUS"
	report_check_ledger "$name"
	report_check "$name" "sum(r['dropped'].values()) == 0"
	# Nothing of what the readers said, and no queue of a TAP is polled.
	report_check "$name" "r['received'] == $N" "r['tx']['sent'] == $times * $N" \
		"[q['port'] for q in r['rx']] == [0]"
}

stamps() { # FILE FIELD
	"$STAMP_ORDER" "$1" | awk -v field="$2" '{ print $field }'
}

# ---- by owner: each reader has what the worker's own file has in a run with the same key ----
weir_run_ok owners --vdev "net_pcap0,rx_pcap=$WORK/in.pcap" -- --workers "$WORKERS" \
	--handler "pcap:$WORK/owners" --strategy rendezvous "$KEY" --overflow reject \
	--exit-idle 0.3 --stats-period 0 --report "$WORK/owners.json"
"$WEIR_BINARY" why "$WORK/in.pcap" --summary --workers "$WORKERS" --strategy rendezvous "$KEY" \
	>"$WORK/why" || fail "weir why: $(cat "$WORK/why")"

steer rendezvous 1 --strategy rendezvous "$KEY"
captures_found --ordered-merge "$WORK/in.pcap" "$WORK"/rendezvous-[0-2].pcap
flows=0
for ((i = 0; i < WORKERS; i++)); do
	captures_found --ordered-merge "$WORK/owners/worker-$i.pcap" "$WORK/rendezvous-$i.pcap"
	n=$(packets_in "$WORK/rendezvous-$i.pcap")
	assert_equal "packets of reader $i and of worker $i by weir why" \
		"$(awk -v id="$i" '/^worker / { on = 1 } on && $1 == id { print $2; exit }' "$WORK/why")" "$n"
	report_check rendezvous "r['workers'][$i]['completed'] == $n > $N // 20"
	flows=$((flows + $(stamps "$WORK/rendezvous-$i.pcap" 4)))
done
assert_equal "flows, counted reader by reader" "$(stamps "$WORK/in.pcap" 4)" "$flows"

# ---- by depth: flows move from reader to reader, and their packets stay in order ----
steer shallowest 1 --strategy shallowest "$KEY"
captures_found "$WORK/in.pcap" "$WORK"/shallowest-[0-2].pcap
report_check shallowest "r['moves'] > 50" "all(w['completed'] > $N // 20 for w in r['workers'])"
mergecap -F nsecpcap -w "$WORK/merged.pcap" "$WORK"/shallowest-[0-2].pcap || fail "mergecap"
assert_equal "stamped packets" "$(stamps "$WORK/in.pcap" 2)" "$(stamps "$WORK/merged.pcap" 2)"
assert_equal "packets that overtook one of their flow" 0 "$(stamps "$WORK/merged.pcap" 6)"

# ---- a copy for everyone ----
steer copies "$WORKERS" --strategy broadcast "$KEY"
for ((i = 0; i < WORKERS; i++)); do
	captures_found --ordered-merge "$WORK/in.pcap" "$WORK/copies-$i.pcap"
done

# ---- several rx cores: a queue each, of a driver that wants as many each way ----
weir_run_ok queues \
	--vdev "net_pcap0,rx_pcap=$WORK/in.pcap,rx_pcap=$WORK/in.pcap,tx_pcap=/dev/null,tx_pcap=/dev/null" \
	--vdev net_tap0,iface=weir0 -- --workers 1 --rx-cores 2 --rx-queues 2 \
	--handler port:net_tap0 --overflow reject --exit-idle 0.5 --stats-period 0 \
	--report "$WORK/queues.json"
report_check_ledger queues
report_check queues "r['received'] == r['tx']['sent'] == 2 * $N" "all(c['sent'] > 0 for c in r['rx_cores'])"
# ---- a frame that is too long for a TAP costs itself, and nothing of what stands behind it ----
"$PYTHON" - "$WORK/long.pcap" <<'PYTHON'
import struct, sys
with open(sys.argv[1], "wb") as capture:
    capture.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    for i in range(40):
        size = 3000 if i in (0, 10, 11, 39) else 100
        capture.write(struct.pack("<IIII", 0, i, size, size) + bytes(12) + b"\x88\xb5" + bytes(size - 14))
PYTHON
weir_run_ok long --vdev "net_pcap0,rx_pcap=$WORK/long.pcap" --vdev net_tap0,iface=weir0 -- \
	--workers 1 --handler port:net_tap0 --overflow reject --exit-idle 0.3 --stats-period 0 \
	--report "$WORK/long.json"
report_check_ledger long
report_check long "r['tx'] == {'sent': 36, 'dropped': 4} and r['dropped']['tx_full'] == 4"
echo "$WORKERS readers have their workers' packets"
