#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A veth pair for each worker, Weir's end driven by net_af_packet, the other one in a namespace where
# tcpdump reads: it gets the packets of its worker, all and in order.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/../support/readers.sh"

WORKERS=2
N=900 # fewer than the kernel lets wait at a veth: none is lost for want of time
OWNERS=(--workers "$WORKERS" --strategy rendezvous --hash-key=000102030405060708090a0b0c0d0e0f)
readers_create "$WORKERS"
reader_silence "$READERS_WEIR"
VDEVS=()
STEERED=()
for ((i = 0; i < WORKERS; i++)); do
	if ! ip link add "out$i" netns "$READERS_WEIR" type veth peer name "in$i" \
		netns "$(reader_namespace "$i")" 2>"$WORK/netns.err"; then
		skip "the kernel lacks veth: $(cat "$WORK/netns.err")"
	fi
	ip -n "$READERS_WEIR" link set "out$i" arp off up || fail "out$i does not start"
	reader_listen "$i" "in$i" "$WORK/read-$i.pcap"
	VDEVS+=(--vdev "net_af_packet$i,iface=out$i")
	STEERED+=(--handler "$i=port:net_af_packet$i")
done

test_diagnose() {
	cat "$WORK"/reader-*.err
	ip -n "$READERS_WEIR" -s link
}

traffic "$WORK/in.pcap" "$N" --mix tcp=40,udp=30,dns=10,vlan=10,ipv6=10
weir_run_ok owners --vdev "net_pcap0,rx_pcap=$WORK/in.pcap" -- "${OWNERS[@]}" \
	--overflow reject --handler "pcap:$WORK/owners" --exit-idle 0.3 --stats-period 0

WEIR_WRAPPER=(ip netns exec "$READERS_WEIR")
weir_run_ok read --vdev "net_pcap0,rx_pcap=$WORK/in.pcap" "${VDEVS[@]}" -- "${OWNERS[@]}" \
	"${STEERED[@]}" --overflow reject --exit-idle 0.3 --stats-period 0 \
	--report "$WORK/read.json"
report_check_ledger read
report_check_nothing_dropped read
report_check read "r['received'] == r['tx']['sent'] == $N" "[q['port'] for q in r['rx']] == [0]"
wait_until "the readers have all" readers_have "$WORK/in.pcap" 1
readers_stop
for ((i = 0; i < WORKERS; i++)); do
	captures_found --ordered-merge "$WORK/owners/worker-$i.pcap" "$WORK/read-$i.pcap"
done
echo "$WORKERS readers have their workers' packets"
