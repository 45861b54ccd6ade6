#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A memif for each worker, each read by a process of its own: it gets the packets of its worker, all
# and in order. One that stands still loses what its ring has no room for, and no other's packets.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/../support/feeder.sh"

N=1000 # fewer than the ring of a memif, 1024, holds: none is lost for want of time
KEY=--hash-key=000102030405060708090a0b0c0d0e0f
READERS=(0 1)
READER_PID=()

readers_kill() {
	local pid

	for pid in ${READER_PID[@]+"${READER_PID[@]}"}; do
		kill -KILL "$pid" 2>/dev/null
	done
}
cleanup_add readers_kill

test_diagnose() {
	tail -n 20 "$WORK"/*-reader-[01].{out,err}
}

# reader_start NAME I: another Weir, whose one worker writes $WORK/NAME-I/worker-0.pcap.
reader_start() {
	local run=$1-reader-$2

	"$WEIR_BINARY" --no-huge -m 64 --no-pci "--file-prefix=$PREFIX-$run" \
		--vdev "net_memif0,role=server,socket-abstract=no,socket=$WORK/$2.sock" -- \
		--workers 1 --handler "pcap:$WORK/$1-$2" --overflow reject --stats-period 0 \
		--report "$WORK/$run.json" >"$WORK/$run.out" 2>"$WORK/$run.err" </dev/null &
	READER_PID[$2]=$!
	wait_until "reader $2 listens" reader_listens "$run" "${READER_PID[$2]}"
}

# True once its port is started: it answers whoever connects from then on. Weir itself answers later,
# for it waits until its port has link.
reader_listens() { # RUN PID
	kill -0 "$2" 2>/dev/null || fail "$1 ended while it was starting"
	RUN_NAME=$1 telemetry /ethdev/info,0 >"$WORK/started.json" 2>/dev/null &&
		[ "$(json "$WORK/started.json" "(r['/ethdev/info'] or {}).get('dev_started')")" = 1 ]
}

# reader_received RUN COUNT: true once it has as many.
reader_received() {
	RUN_NAME=$1 telemetry /weir/info 2>/dev/null >"$WORK/received.json" &&
		[ "$(json "$WORK/received.json" "r['/weir/info']['received']" 2>/dev/null)" = "$2" ]
}

# reader_end NAME I COUNT: ends a reader once it has so many packets.
reader_end() {
	wait_until "reader $2 has $3 packets" reader_received "$1-reader-$2" "$3"
	kill -s TERM "${READER_PID[$2]}"
	wait "${READER_PID[$2]}"
	assert_equal "reader $2: exit status" 0 $?
	unset "READER_PID[$2]"
	report_check "$1-reader-$2" "r['received'] == $3 and r['ledger_ok'] is True"
}

# True once no packet is on its way, of N.
still_ended() {
	telemetry /weir/info >"$WORK/ended.json" &&
		[ "$(json "$WORK/ended.json" "(lambda i: i['received'] - i['completed'] - sum(i['dropped'].values()) if i['received'] == $N else -1)(r['/weir/info'])")" = 0 ]
}

VDEVS=()
STEERED=()
for i in "${READERS[@]}"; do
	VDEVS+=(--vdev "net_memif$i,role=client,socket-abstract=no,socket=$WORK/$i.sock")
	STEERED+=(--handler "$i=port:net_memif$i")
done

# ---- each reader has its worker's packets ----
traffic "$WORK/in.pcap" "$N"
weir_run_ok owners --vdev "net_pcap0,rx_pcap=$WORK/in.pcap" -- --workers 2 --overflow reject \
	--handler "pcap:$WORK/owners" --strategy rendezvous "$KEY" --exit-idle 0.3 --stats-period 0
for i in "${READERS[@]}"; do
	reader_start read "$i"
done
weir_run_ok read --vdev "net_pcap0,rx_pcap=$WORK/in.pcap" "${VDEVS[@]}" -- --workers 2 \
	"${STEERED[@]}" --strategy rendezvous "$KEY" --overflow reject --exit-idle 0.3 \
	--stats-period 0 --report "$WORK/read.json"
report_check_ledger read
report_check_nothing_dropped read
report_check read "r['received'] == r['tx']['sent'] == $N"
for i in "${READERS[@]}"; do
	reader_end read "$i" "$(packets_in "$WORK/owners/worker-$i.pcap")"
	captures_found --ordered-merge "$WORK/owners/worker-$i.pcap" "$WORK/read-$i/worker-0.pcap"
done

# ---- reader 0 stands still: what its ring has no room for is lost, and charged to worker 0 ----
N=4000
SHARE=$((N / 5)) # of worker 1: less than a ring
DEAL=(--workers 2 --strategy round-robin --weights 4,1 --order none)
traffic "$WORK/in.pcap" "$N"
weir_run_ok shares --vdev "net_pcap0,rx_pcap=$WORK/in.pcap" -- "${DEAL[@]}" --overflow reject \
	--handler "pcap:$WORK/shares" --exit-idle 0.3 --stats-period 0
assert_equal "packets of worker 1" "$SHARE" "$(packets_in "$WORK/shares/worker-1.pcap")"
for i in "${READERS[@]}"; do
	reader_start still "$i"
done
feeder_start "$WORK/in.pcap"
weir_start still --vdev "net_pcap0,rx_pcap=$WORK/pipe" "${VDEVS[@]}" -- "${DEAL[@]}" \
	"${STEERED[@]}" --overflow reject --stats-period 0 --report "$WORK/still.json"
kill -s STOP "${READER_PID[0]}"
feeder_go
wait_until "all packets have ended" still_ended
feeder_wait
taken=$(($(json "$WORK/ended.json" "r['/weir/info']['tx_sent']") - SHARE))
kill -s CONT "${READER_PID[0]}"
reader_end still 0 "$taken"
reader_end still 1 "$SHARE"
RUN_NAME=still
kill -s TERM "$WEIR_PID"
weir_wait
assert_equal "still: exit status" 0 "$WEIR_STATUS"
report_check_ledger still
lost=$((N - SHARE - taken))
report_check still "r['tx'] == {'sent': $SHARE + $taken, 'dropped': $lost}" "$lost > 0 < $taken" \
	"r['workers'][0]['dropped']['tx_full'] == sum(r['dropped'].values()) == $lost" \
	"sum(r['workers'][1]['dropped'].values()) == 0"
captures_found --ordered-merge "$WORK/shares/worker-1.pcap" "$WORK/still-1/worker-0.pcap"
echo "of the packets for the reader that stood still $taken waited for it and $lost were lost"
