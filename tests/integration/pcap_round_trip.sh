#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Real captures in by net_pcap, out by the workers' pcap sinks: every packet once, byte for byte and
# with its arrival time. Odd and jumbo captures one by one, then all Ethernet captures as one.
. "$(dirname "$0")/common.sh"
captures_required

# Chosen for what is odd in them; those that are not Ethernet or absent are passed over.
CHOSEN=(
	zeek/http_bro.org.pcap
	zeek/tcp_timestamp.pcap
	zeek/tunnels_gre-within-gre.pcap
	zeek/igmp_igmp-many-groups.pcap
	tcpdump/empty.pcapng
)
N_MORE=10 # spread evenly over the others

# The Ethernet captures, as "PACKETS LONGEST PATH" lines; $WORK/all.pcap has all their packets.
"$PCAP_MERGE" "$WORK/all.pcap" "$WEIR_CAPTURES"/*/* >"$WORK/ethernet" || fail "pcap_merge"
N_ETHERNET=$(wc -l <"$WORK/ethernet")
[ "$N_ETHERNET" -gt 300 ] || fail "only $N_ETHERNET Ethernet captures in $WEIR_CAPTURES"

round_trip() { # NAME CAPTURE COMPARE-OPTION...
	local name=$1 capture=$2

	shift 2
	weir_run_ok "$name" --vdev "net_pcap0,rx_pcap=$capture" -- --workers 4 --overflow reject \
		--handler "pcap:$WORK/$name" --exit-idle 0.2 --stats-period 0 --quiet \
		--report "$WORK/$name.json"
	captures_found "$@" "$capture" "$WORK/$name"/worker-{0,1,2,3}.pcap
	report_check_ledger "$name"
	report_check_nothing_dropped "$name"
	report_check "$name" "r['received'] == $(packets_in "$capture")" 'r["tx"]["sent"] == 0'
	rm -r "${WORK:?}/$name"
}

# Longer than the data room of an mbuf, 2176 less the headroom: these arrive as chains.
mapfile -t jumbos < <(awk '$2 > 2048 { print $3 }' "$WORK/ethernet")
[ "${#jumbos[@]}" -ge 5 ] || fail "only ${#jumbos[@]} captures with jumbo frames"
mapfile -t others < <(awk -v n="$N_MORE" -v total="$N_ETHERNET" \
	'NR % int(total / n) == 1 { print $3 }' "$WORK/ethernet")

i=0
for capture in "${CHOSEN[@]/#/$WEIR_CAPTURES/}" "${jumbos[@]}" "${others[@]}"; do
	grep -qF " $capture" "$WORK/ethernet" || continue
	echo "$capture"
	round_trip "run$((i++))" "$capture" --timestamps
done
[ "$i" -ge 20 ] || fail "only $i captures were tried"

# Without the times: two captures have some that lie before 1970.
echo "all $N_ETHERNET Ethernet captures as one"
round_trip all "$WORK/all.pcap"
