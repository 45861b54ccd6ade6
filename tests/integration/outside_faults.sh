#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What comes from outside: closed standard streams, a pipe that nobody reads, a terminal that closes,
# and frames longer than a driver can count. Each ends as documented, and none hangs.
. "$(dirname "$0")/common.sh"

EAL=(--no-huge -m 256 --no-pci --log-level=lib.eal:error)

weir_bare() { # NAME ARGUMENT...: with the caller's standard streams
	local name=$1

	shift
	timeout -k 2 10 "$WEIR_BINARY" "${EAL[@]}" --file-prefix="$PREFIX-$name" "$@"
}

weir_bare out --vdev net_null0 -- --duration 0.2 --order none --report "$WORK/out.json" >&- 2>/dev/null
assert_equal "exit status, stdout closed" 0 $?
[ -s "$WORK/out.json" ] || fail "stdout closed: no report"
weir_bare err --vdev net_null0 -- --duration 0.2 --order none >/dev/null 2>&-
assert_equal "exit status, stderr closed" 0 $?

mkdir "$WORK/pipes" && mkfifo "$WORK/pipes/worker-0.pcap" || fail "mkfifo"
weir_bare pipe --vdev net_null0 -- --handler "pcap:$WORK/pipes" --workers 1 >/dev/null 2>&1
assert_equal "exit status, a pipe without a reader" 2 $?

"$WEIR_BINARY" "${EAL[@]}" --file-prefix="$PREFIX-hup" --vdev net_null0 -- --order none --quiet \
	--report "$WORK/hup.json" >/dev/null 2>&1 &
WEIR_PID=$!
for ((i = 0; i < 200; i++)); do
	grep -q weir-worker /proc/$WEIR_PID/task/*/comm 2>/dev/null && break
	sleep 0.05
done
kill -HUP "$WEIR_PID"
wait "$WEIR_PID"
assert_equal "exit status after SIGHUP" 0 $?
WEIR_PID=
[ -s "$WORK/hup.json" ] || fail "SIGHUP: no report"

python3 - "$WORK/long.pcap" <<'PYTHON' || fail "long.pcap"
import struct, sys
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
    for second in range(8):
        file.write(struct.pack("<IIII", 1, second, 100000, 100000) + bytes(100000))
PYTHON
weir_bare long --vdev "net_pcap0,rx_pcap=$WORK/long.pcap" -- --exit-idle 0.3 --overflow reject \
	--quiet --report "$WORK/long.json" >/dev/null 2>&1
assert_equal "exit status, frames of 100,000 bytes" 0 $?
report_check_ledger long
report_check long "r['received'] == 8" "r['dropped']['bad_frame'] == 8"
