#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Whatever cannot be honoured is refused before a packet moves: exit status 2, and one line on stderr
# that names the option, the value and what is allowed. Help and version need no EAL.
. "$(dirname "$0")/common.sh"

traffic "$WORK/in.pcap" 10
N_REFUSED=0

# refused_line PATTERN...: Weir's one line has all of these. What DPDK's libraries log is not
# Weir's: LIBRARY: text.
refused_line() {
	local pattern

	assert_equal "$RUN_NAME: exit status" 2 "$WEIR_STATUS"
	grep -v -E '^[A-Z_]+: ' "$WORK/$RUN_NAME.err" >"$WORK/line"
	assert_equal "$RUN_NAME: lines on stderr" 1 "$(wc -l <"$WORK/line")"
	for pattern; do
		assert_contains "$RUN_NAME: the refusal" "$(cat "$WORK/line")" "$pattern"
	done
	[ ! -e "$WORK/moved.pcap" ] || [ "$(packets_in "$WORK/moved.pcap")" = 0 ] ||
		fail "$RUN_NAME: packets moved"
	rm -f "$WORK/moved.pcap"
	N_REFUSED=$((N_REFUSED + 1))
}

# refused OPTION VALUE REASON WEIR-ARGUMENT...
refused() {
	local patterns=("$1" "$2" "$3")

	shift 3
	weir_run "refused_$N_REFUSED" \
		--vdev "net_pcap0,rx_pcap=$WORK/in.pcap,tx_pcap=$WORK/moved.pcap" -- \
		--exit-idle 0.2 --stats-period 0 "$@"
	refused_line "${patterns[@]}"
}

# ---- values out of range, unknown or malformed ----
while read -r option value; do
	refused "$option" "$value" allowed "$option" "$value"
	refused "$option" "$value" allowed "$option=$value"
done <<'TABLE'
--workers 0
--workers 257
--workers -1
--workers four
--workers 4x
--workers 18446744073709551617
--rx-cores 0
--rx-cores 15
--rx-queues 0
--worker-cpus 0-
--worker-cpus 3-1
--worker-cpus cpu0
--worker-cpus 1000
--strategy deepest
--strategy SHALLOWEST
--strategy shallow
--flow-hash toeplitz
--flow-hash nic
--flow-depth both
--flow-nesting 17
--flow-ports vxlan
--flow-ports vxlan=4790
--order none --sticky 100
--strategy first,
--strategy custom:
--strategy shallowest,first
--weights 0,1,1,1
--weights 1,1,1,101
--weights 1,1
--budget 513
--budget -1
--hold-timeout 5
--hold-timeout x
--state-period -1
--exception-port net_pcap0
--config /absent
--config /tmp
--dead-sample 0
--dead-sample 2
--depth-alarm -1
--order sorted
--overflow drop
--overflow drop-tail
--lane-size 0
--lane-size 65536
--burst 0
--burst 257
--chunk 0
--chunk 257
--handler teleport
--handler forward:1
--handler drop:x
--handler burn
--handler burn:
--handler wait:-1
--handler wait:exp:
--handler wait:bimodal:101:1:2
--handler pcap
--handler pcap:
--handler plugin
--handler plugin:
--handler plugin::x
--handler 4=forward
--handler 0-9=forward
--handler 1=teleport
--depth-mode deep
--seed x
--hash-key 0123
--hash-key 0123456789abcdef0123456789abcdefg
--hash-key 0123456789abcdef0123456789abcdeg
--mbuf-size 0
--mbuf-size 100000
--stats-period -1
--stats-period often
--duration -1
--duration soon
--packets -1
--packets many
--exit-idle -0.5
--exit-idle x
--drain-timeout -1
--drain-timeout x
TABLE

# ---- options that do not exist, lack their value or have one too many ----
refused --frobnicate '' 'no such option' --frobnicate
refused --worker '' 'no such option' --worker 4 # the beginning of a name is not the name
refused --workers '' 'needs a value' --workers
refused --workers '' 'needs a value' --workers --quiet
refused --quiet yes allowed --quiet=yes
refused stray '' 'not an option' stray
refused --report '' allowed --report=

# ---- what this machine or this set of options cannot do ----
refused --rx-queues 16 allowed --rx-queues 16 # net_pcap has as many queues as files
refused --rx-cores 2 allowed --rx-cores 2     # one queue: nothing to poll for the second
refused --report "$WORK/absent/r.json" allowed --report "$WORK/absent/r.json"
refused --report "$WORK" allowed --report "$WORK"
refused --handler "$WORK/in.pcap" allowed --handler "pcap:$WORK/in.pcap"
refused --handler "$WORK/absent/w" allowed --handler "pcap:$WORK/absent/w"
refused --handler /proc/w allowed --handler pcap:/proc/w
refused --handler plugin:/absent.so 'No such file' --handler plugin:/absent.so:x
refused --handler plugin:/etc/passwd "ELF" --handler plugin:/etc/passwd
refused --chunk 8 allowed --strategy rendezvous --chunk 8
refused --handler port:net_tap7 'net_pcap0 (0)' --handler port:net_tap7
refused --handler port: 'net_pcap0 (0)' --handler 1=port:
refused --handler port:1 'net_pcap0 (0)' --handler port:1
refused --handler port:0 'besides at least one' --handler 3=port:0

# ---- rules and files of options ----
refused --rule 'column 5' 'syntax error' --rule 'udp prot 53 => drop'
refused --rule 'column 6' "unknown port 'nosuch'" --rule 'port nosuch => drop'
refused --rule 'number 2' 'allowed drop' --rule 'udp => drop' --rule 'tcp => drap'
refused --rule 'drop retry:2' 'no other word' --rule 'udp => drop retry:2'
refused --rule kernel '--exception-port' --rule 'udp => kernel'
refused --exception-port nowhere allowed --exception-port nowhere --rule 'udp => kernel'
# A port has nobody to send to if it is the only one.
refused --exception-port net_pcap0 'besides at least one other' --exception-port net_pcap0 \
	--rule 'udp => kernel'
# Each rx core takes two of the fourteen dispatchers.
refused '--rx-cores 8' 'allowed 1 to 7' 'these would take 16' --rx-cores 8 --rule 'udp => urgent'
rules=()
for _ in {1..64}; do
	rules+=(--rule 'udp => drop')
done
refused --rule 'udp => drop' 'at most 63' "${rules[@]}"
printf '[weir]\nworkers = 0\n' >"$WORK/range.ini"
refused "$WORK/range.ini:2" 'workers 0' allowed --config "$WORK/range.ini"
printf '[weir]\n\nwrkers = 4\n' >"$WORK/key.ini"
refused "$WORK/key.ini:3" wrkers 'did you mean workers' --config "$WORK/key.ini"
printf '[rules]\nrule = %0300d\n' 0 >"$WORK/long.ini"
refused "$WORK/long.ini:2" 'at most' 'bytes a line' --config "$WORK/long.ini"

# Memory that lanes and buffers do not fit into.
weir_run memory --vdev net_null0 -- --workers 256 --lane-size 65535 --packets 1
refused_line --workers --lane-size " MB"

# No port at all; too few lcores; options on the wrong side of the `--`; a second process.
weir_run no_port -- --workers 2
refused_line port --vdev
weir_run lcores -l 0 --vdev net_null0 -- --packets 1
refused_line --rx-cores 1 lcore
weir_run wrong_side --workers 2 --vdev net_null0 -- --packets 1
refused_line --workers 'after the --'
weir_run unknown --frobnicate --vdev net_null0 -- --packets 1
refused_line --frobnicate
weir_run secondary --proc-type=secondary --vdev net_null0 -- --packets 1
refused_line --proc-type secondary primary

# ---- help and version: no EAL, no port ----
plain() {
	"$WEIR_BINARY" "$@" >"$WORK/plain.out" 2>"$WORK/plain.err" </dev/null
	assert_equal "weir $*: exit status" 0 $?
	assert_equal "weir $*: stderr" "" "$(cat "$WORK/plain.err")"
}

for help in "--help" "-- --help"; do
	# shellcheck disable=SC2086 # two words
	plain $help
	for option in --rx-cores --rx-queues --workers --worker-cpus --strategy --order --overflow \
		--lane-size --burst --chunk --handler --depth-mode --seed --hash-key --flow-depth \
		--flow-nesting --flow-ports --mbuf-size --stats-period --duration --packets --exit-idle --drain-timeout --report --quiet \
		--rule --weights --budget --hold-timeout --state-period --exception-port --config \
		--help --version; do
		assert_contains "weir $help" "$(cat "$WORK/plain.out")" "$option"
	done
	for name in shallowest round-robin rendezvous drop-new reject forward swap-mac port:NAME pcap:DIR \
		plugin:FILE.so kernel police:PPS discard-later urgent; do
		assert_contains "weir $help" "$(cat "$WORK/plain.out")" "$name"
	done
done
for version in "--version" "-- --version"; do
	# shellcheck disable=SC2086 # two words
	plain $version
	grep -q -E '[0-9]+\.[0-9]+\.[0-9]+' "$WORK/plain.out" || fail "weir $version: no version"
done
echo "$N_REFUSED command lines were refused"
