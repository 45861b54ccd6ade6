#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Rules that say urgent (M12). A worker that stands still while everything arrives takes all urgent
# packets before any other, each kind in its order: told by its own file, not by a clock. Under load
# nothing is lost, flows keep their order, and report, telemetry and weir why count the same.
. "$(dirname "$0")/common.sh"
: "${STAMP_ORDER:?}"

# ---- order: the worker's file is a pipe, and nobody reads it before all packets have arrived ----
# 400 others, then 400 of which every second one is urgent: to port 5000. Each carries its number.
# What the pipe takes and a burst are fewer than the urgent ones.
N=800
N_URGENT=200
"$PYTHON" - "$WORK/in.pcap" <<'PYTHON' || fail "in.pcap"
import struct, sys
def frame(number, port):
    data = struct.pack("!I", number) + bytes(1000)
    udp = struct.pack("!HHHH", 4000 + number % 50, port, 8 + len(data), 0) + data
    ip = struct.pack("!BBHHHBBHII", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, 0x0A000001, 0x0A000002)
    return bytes([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]) + ip + udp
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
    for number in range(800):
        data = frame(number, 5000 if number >= 400 and number % 2 == 0 else 6000)
        file.write(struct.pack("<IIII", 1, number, len(data), len(data)) + data)
PYTHON

mkdir "$WORK/sink" && mkfifo "$WORK/sink/worker-0.pcap" || fail "mkfifo"
exec 9<>"$WORK/sink/worker-0.pcap" # a reader that reads nothing
weir_start order --vdev "net_pcap0,rx_pcap=$WORK/in.pcap" -- --workers 1 --lane-size 1024 \
	--handler "pcap:$WORK/sink" --drain-timeout 50 --stats-period 0 --quiet \
	--rule 'udp port 5000 => urgent' --report "$WORK/order.json"

all_lent() {
	telemetry /weir/worker,0 | grep -q "\"lent\": *${N}[,}]"
}
wait_until "every packet is lent" all_lent
# What the worker had taken by now; all that it takes later it chooses from everything.
telemetry /weir/worker,0 >"$WORK/worker.json"
telemetry /weir/info >"$WORK/info.json"
telemetry /weir/rx >"$WORK/rx.json"
TAKEN=$(json "$WORK/worker.json" 'r["/weir/worker"]["received"]')
assert_equal "urgent by telemetry" "$N_URGENT $N_URGENT $N_URGENT" \
	"$(json "$WORK/worker.json" 'r["/weir/worker"]["urgent"]') $(json "$WORK/info.json" \
		'r["/weir/info"]["urgent"]') $(json "$WORK/rx.json" 'r["/weir/rx"]["0"]["urgent"]')"

cat <"$WORK/sink/worker-0.pcap" >"$WORK/out.pcap" 9>&- &
READER=$!
exec 9>&-
kill -TERM "$WEIR_PID"
weir_wait
assert_equal "exit status" 0 "$WEIR_STATUS"
wait "$READER" || fail "the reader of the pipe"
report_check_ledger order
report_check_nothing_dropped order
report_check order "r['received'] == $N" "r['urgent'] == $N_URGENT" \
	"r['rx_cores'][0]['urgent'] == $N_URGENT" "r['workers'][0]['urgent'] == $N_URGENT" \
	"r['rules'][0]['matched'] == $N_URGENT" "r['workers'][0]['lent'] == $N"

"$PYTHON" - "$WORK/out.pcap" "$TAKEN" <<'PYTHON' || fail "the order in which the worker took packets"
import struct, sys
data = open(sys.argv[1], "rb").read()
taken = int(sys.argv[2])
numbers, at = [], 24
while at < len(data):
    length = struct.unpack_from("<I", data, at + 8)[0]
    numbers.append(struct.unpack_from("!I", data, at + 16 + 42)[0])
    at += 16 + length
urgent = [n for n in range(800) if n >= 400 and n % 2 == 0]
others = [n for n in range(800) if n not in urgent]
assert [n for n in numbers if n in urgent] == urgent, "urgent packets lost their order"
assert [n for n in numbers if n not in urgent] == others, "the others lost their order"
before = [n for n in numbers[:taken] if n in urgent]
left = urgent[len(before):]
assert left, f"the worker had taken {taken}: it did not stand still"
assert numbers[taken:taken + len(left)] == left, "urgent packets were not taken first"
print(f"{taken} were taken before, then {len(left)} urgent ones, then {800 - taken - len(left)}")
PYTHON

# ---- weir why goes by the same two dispatchers ----
"$WEIR_BINARY" why "$WORK/in.pcap" --workers 1 --lane-size 1024 --service-ns 1000000000 \
	--rule 'udp port 5000 => urgent' >"$WORK/why" || fail "weir why"
assert_equal "urgent by weir why" "$N_URGENT" "$(grep -c '; urgent, ' "$WORK/why")"
# Depth is whole: the last packet finds all others at the worker, whoever lent them.
assert_contains "weir why" "$(grep -A 3 "^#$N " "$WORK/why")" "depths [$((N - 1))]"

# ---- load: full lanes under reject, several workers, both kinds in order ----
N=20000
traffic "$WORK/mix.pcap" "$N" --mix tcp=40,udp=30,dns=10,vlan=10,ipv6=10
weir_run_ok load --vdev "net_pcap0,rx_pcap=$WORK/mix.pcap,tx_pcap=$WORK/load.pcap" -- \
	--workers 4 --lane-size 32 --overflow reject --handler burn:exp:4000 --exit-idle 0.5 \
	--stats-period 0 --rule 'udp or ip6 => urgent' --report "$WORK/load.json"
report_check_ledger load
report_check_nothing_dropped load
report_check load "r['tx']['sent'] == $N" "$N > r['urgent'] == r['rules'][0]['matched'] > 0" \
	"sum(w['urgent'] for w in r['workers']) == r['urgent']" "r['rejected'] > 0" \
	"sum(w['lent'] for w in r['workers']) == $N"
captures_found "$WORK/mix.pcap" "$WORK/load.pcap"
"$STAMP_ORDER" "$WORK/load.pcap" >"$WORK/load.order" || fail "stamp_order"
assert_equal "inversions" 0 "$(awk '{ print $6 }' "$WORK/load.order")"
assert_contains "the table" "$(cat "$WORK/load.out")" "dispatched ahead of the others"

# A worker that hardly begins: the drain writes both kinds off.
weir_run_ok stalled --vdev "net_pcap0,rx_pcap=$WORK/mix.pcap" -- --workers 1 --lane-size 32 \
	--overflow reject --handler wait:500000000 --burst 1 --duration 0.3 --drain-timeout 0.2 \
	--stats-period 0 --quiet --rule 'udp or ip6 => urgent' --report "$WORK/stalled.json"
report_check_ledger stalled
report_check stalled "r['dropped']['drain_timeout'] == r['received'] - r['completed'] > 34" \
	"r['received'] > r['urgent'] > 0"
echo "urgent packets went first"
