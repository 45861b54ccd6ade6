#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Rules: per rule, Weir counts the packets that tcpdump finds by the same expressions and tshark by
# filters of its own; and what a rule says is done: dropped, diverted to another port, lent to the
# workers of its own strategy.
. "$(dirname "$0")/common.sh"

[ -n "$(command -v tcpdump)" ] || skip "tcpdump is not installed"
[ -n "$(command -v tshark)" ] || skip "tshark is not installed"

N=4000
traffic "$WORK/in.pcap" "$N"

# by_tcpdump FILE EXPRESSION: how many packets match.
by_tcpdump() {
	tcpdump -n -r "$1" "$2" 2>/dev/null | wc -l
}

# by_tshark FILE FILTER: the same by a display filter, which is no code of libpcap's.
by_tshark() {
	tshark -o ip.defragment:FALSE -n -r "$1" -Y "$2" 2>/dev/null | wc -l
}

# ---- every rule counts what the others before it have left ----
# The expressions, and what they are in tshark's words.
# Tagged packets first: what follows sees no tag.
RULES=(
	'vlan' 'vlan'
	'udp port 53' 'udp.port == 53'
	'tcp dst port 443' 'tcp.dstport == 443'
	'tcp[tcpflags] & tcp-syn != 0' 'ip && tcp.flags.syn == 1'
	'ip[6:2] & 0x1fff != 0' 'ip.frag_offset > 0'
	'less 100' 'frame.len <= 100'
	'ip6' 'ipv6'
)
arguments=()
earlier=
earlier_shark=
expected=()
for ((i = 0; i < ${#RULES[@]}; i += 2)); do
	arguments+=(--rule "${RULES[i]} => first")
	expected+=("$(by_tcpdump "$WORK/in.pcap" "(${RULES[i]})$earlier")")
	# The newest first: behind `vlan`, even a negated one, libpcap looks behind a tag.
	earlier=" and not (${RULES[i]})$earlier"
	shark=$(by_tshark "$WORK/in.pcap" "(${RULES[i + 1]})$earlier_shark")
	earlier_shark+=" && !(${RULES[i + 1]})"
	assert_equal "${RULES[i]}: tcpdump and tshark" "${expected[-1]}" "$shark"
done

weir_run_ok counts --vdev "net_pcap0,rx_pcap=$WORK/in.pcap" -- --overflow reject --exit-idle 0.3 \
	--report "$WORK/counts.json" "${arguments[@]}"
report_check_ledger counts
assert_equal "packets by rule" "${expected[*]}" \
	"$(report counts '" ".join(str(rule["matched"]) for rule in r["rules"])')"
report_check counts "r['received'] == $N" 'sum(r["matched"]) == r["received"]' \
	'r["matched"][1:] == [rule["matched"] for rule in r["rules"]]' \
	'[sum(m) for m in zip(*(c["matched"] for c in r["rx_cores"]))] == r["matched"]' \
	'[rule["rule"] for rule in r["rules"]] == list(range(1, 8))' \
	'r["rules"][1]["expression"] == "udp port 53" and r["rules"][1]["action"] == "first"'
[ "$(report counts 'all(n > 0 for n in r["matched"])')" = True ] || fail "a rule matches nothing"
assert_contains "the table" "$(cat "$WORK/counts.out")" "udp port 53 => first"

# `weir why` finds the same.
"$WEIR_BINARY" why "$WORK/in.pcap" --summary "${arguments[@]}" >"$WORK/why" ||
	fail "weir why: $(cat "$WORK/why")"
assert_equal "weir why" "${expected[*]}" \
	"$(awk '$1 == "rule" { printf "%s%s", n++ ? " " : "", $3 }' "$WORK/why")"

# ---- the same rules from a file, and one more behind them ----
{
	echo '[weir]'
	echo 'overflow = reject'
	echo 'exit-idle = 0.3'
	echo 'workers = 2 ; the words say 3'
	echo '[rules]'
	for ((i = 0; i < ${#RULES[@]}; i += 2)); do
		echo "rule = ${RULES[i]}"
		echo "  => first"
	done
} >"$WORK/weir.ini"
weir_run_ok file --vdev "net_pcap0,rx_pcap=$WORK/in.pcap" -- --config "$WORK/weir.ini" \
	--workers 3 --rule '=> last' --report "$WORK/file.json"
report_check file 'len(r["workers"]) == 3' 'r["overflow"] == "reject"' 'r["matched"][0] == 0' \
	'r["rules"][7]["expression"] == "" and r["rules"][7]["action"] == "last"'
assert_equal "packets by rule of the file" "${expected[*]} $(report counts 'r["matched"][0]')" \
	"$(report file '" ".join(str(rule["matched"]) for rule in r["rules"])')"

# ---- captures of the world, if they are there ----
if [ -d "$WEIR_CAPTURES" ]; then
	n_compared=0
	for file in $(find "$WEIR_CAPTURES" -name '*.pcap*' -size -400k | sort | head -n 30); do
		tcpdump -r "$file" -c 1 2>&1 | grep -q 'EN10MB' || continue
		"$WEIR_BINARY" why "$file" --summary --rule 'vlan and udp => drop' \
			--rule 'udp or ip6 => drop' --rule 'tcp port 80 => drop' \
			>"$WORK/why" 2>"$WORK/why.err" || continue
		want="$(by_tcpdump "$file" 'vlan and udp')"
		want+=" $(by_tcpdump "$file" '(udp or ip6) and not (vlan and udp)')"
		want+=" $(by_tcpdump "$file" 'tcp port 80 and not (udp or ip6) and not (vlan and udp)')"
		assert_equal "$file" "$want" \
			"$(awk '$1 == "rule" { printf "%s%s", n++ ? " " : "", $3 }' "$WORK/why")"
		n_compared=$((n_compared + 1))
	done
	[ "$n_compared" -gt 0 ] || fail "no capture of $WEIR_CAPTURES was compared"
	echo "$n_compared captures compared"
fi

# ---- what rules do: each packet is where its rule sent it ----
# part NAME EXPRESSION: the packets that match, in $WORK/NAME.pcap.
part() {
	tcpdump -r "$WORK/in.pcap" -w "$WORK/$1.pcap" "$2" 2>/dev/null || fail "tcpdump $2"
}

part dropped 'udp port 53'
part diverted 'less 100 and not udp port 53'
part first 'tcp and not less 100'
part rest 'not tcp and not less 100 and not udp port 53'
weir_run_ok actions --vdev "net_pcap0,rx_pcap=$WORK/in.pcap,tx_pcap=$WORK/wire.pcap" \
	--vdev "net_pcap1,tx_pcap=$WORK/kernel.pcap" -- \
	--workers 3 --overflow reject --exit-idle 0.3 --handler "pcap:$WORK/workers" \
	--exception-port net_pcap1 --report "$WORK/actions.json" \
	--rule 'udp port 53 => drop' --rule 'less 100 => kernel' --rule 'tcp => first' \
	--rule '=> last'
report_check_ledger actions
report_check actions "r['dropped']['rule_drop'] == $(packets_in "$WORK/dropped.pcap")" \
	"sum(r['dropped'].values()) == r['dropped']['rule_drop'] > 0" \
	"r['tx']['sent'] == $(packets_in "$WORK/diverted.pcap") > 0" \
	"r['workers'][0]['completed'] == $(packets_in "$WORK/first.pcap") > 0" \
	"r['workers'][1]['completed'] == 0" \
	"r['workers'][2]['completed'] == $(packets_in "$WORK/rest.pcap") > 0"
captures_found "$WORK/diverted.pcap" "$WORK/kernel.pcap"
captures_found "$WORK/first.pcap" "$WORK/workers/worker-0.pcap"
captures_found "$WORK/rest.pcap" "$WORK/workers/worker-2.pcap"
assert_equal "packets on the wire" 0 "$(packets_in "$WORK/wire.pcap")"

# Policed: no more than the bucket held and the run lasted for.
weir_run_ok policed --vdev "net_pcap0,rx_pcap=$WORK/in.pcap" -- --overflow reject --exit-idle 0.3 \
	--rule 'tcp => police:1:10' --report "$WORK/policed.json"
report_check_ledger policed
report_check policed "r['rules'][0]['matched'] == $(by_tcpdump "$WORK/in.pcap" tcp)" \
	'10 <= r["rules"][0]["matched"] - r["dropped"]["rate_limited"] <= 11 + r["duration_s"]'
echo "rules count as tcpdump and tshark do, and do what they say"
