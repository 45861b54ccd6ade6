#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Workers that are started by hand: they attach, work, and are told to go; who may not attach is told
# why, and so is whoever runs the weir. And what the kernel says of such a process.
. "$(dirname "$0")/common.sh"

SOCKET=$WORK/attach.sock
WORKER_PIDS=()

workers_end() {
	local pid

	for pid in ${WORKER_PIDS[@]+"${WORKER_PIDS[@]}"}; do
		kill -KILL "$pid" 2>/dev/null
	done
}
cleanup_add workers_end

# worker_start NAME ARGUMENT...: by hand, in the background; its pid is in WORKER_PID.
worker_start() {
	local name=$1

	shift
	"$WEIR_BINARY" worker "$@" >"$WORK/$name.out" 2>&1 </dev/null &
	WORKER_PID=$!
	WORKER_PIDS+=("$WORKER_PID")
}

# worker_refused NAME STATUS WORDS ARGUMENT...: it ends with that status and one line.
worker_refused() {
	local name=$1 status=$2 words=$3

	shift 3
	timeout -k 5 30 "$WEIR_BINARY" worker "$@" >"$WORK/$name.out" 2>&1 </dev/null
	assert_equal "$name: exit status" "$status" $?
	assert_contains "$name" "$(cat "$WORK/$name.out")" "$words"
	assert_equal "$name: lines" 1 "$(wc -l <"$WORK/$name.out")"
}

# ---- before there is a weir ----

worker_refused none 1 "worker 0: no weir listens at $SOCKET (--socket)" --id 0 --socket "$SOCKET"
worker_refused no_id 2 "weir worker needs --id" --socket "$SOCKET"
worker_refused bad_id 2 "--id 256: allowed 0 to 255" --id 256 --socket "$SOCKET"
worker_refused bad_handler 2 "--handler nonsense: allowed forward" --id 0 --socket "$SOCKET" \
	--handler nonsense
worker_refused unknown 2 "--pool: no option of weir worker" --pool x
"$WEIR_BINARY" worker --help >"$WORK/help.out" || fail "weir worker --help"
assert_contains "weir worker --help" "$(cat "$WORK/help.out")" "--socket PATH"

# ---- two workers by hand ----

weir_start hand --vdev net_null0 -- --worker-mode attached --workers 2 --order none \
	--attach-socket "$SOCKET" --handler wait:100000 --stats-period 0 --report "$WORK/hand.json"
worker_refused far 2 "worker 2: there is no worker 2: 0 to 1 (--workers" --id 2 --socket "$SOCKET"
worker_start first --id 0 --socket "$SOCKET"
first=$WORKER_PID
worker_start second --id 1 --socket "$SOCKET" --handler "pcap:$WORK/mine"
second=$WORKER_PID

# Worker $1 has given packets back.
works() {
	telemetry "/weir/worker,$1" >"$WORK/worker.json" &&
		[ "$(json "$WORK/worker.json" 'r["/weir/worker"]["completed"]')" -gt 0 ]
}
wait_until "worker 0 works" works 0
wait_until "worker 1 works" works 1
worker_refused taken 2 "worker 0: " --id 0 --socket "$SOCKET"

# ---- what the kernel says of one ----

status_of() { # PID FIELD
	awk -F '\t' -v field="$2:" '$1 == field { print $2 }' "/proc/$1/status"
}
for pid in "$first" "$second"; do
	assert_contains "Name" "$(status_of "$pid" Name)" weir-worker
	assert_equal "NoNewPrivs" 1 "$(status_of "$pid" NoNewPrivs)"
	assert_equal "Seccomp" 2 "$(status_of "$pid" Seccomp)"
	assert_equal "CapEff" 0000000000000000 "$(status_of "$pid" CapEff)"
	if [ "$(id -u)" = 0 ]; then
		assert_equal "CapBnd" 0000000000000000 "$(status_of "$pid" CapBnd)"
		assert_equal "Uid" "$(id -u nobody)" "$(status_of "$pid" Uid)"
		assert_equal "Groups" "" "$(status_of "$pid" Groups | tr -d ' ')"
	fi
done
if [ "$(id -u)" = 0 ]; then
	assert_equal "the attach socket" "600 nobody" "$(stat -c '%a %U' "$SOCKET")"
fi

# ---- another version ----

"$PYTHON" - "$SOCKET" >"$WORK/version.out" <<'PYTHON' || fail "the client of another version"
import socket, struct, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
    client.settimeout(10)
    client.connect(sys.argv[1])
    client.send(struct.pack("<8sIIII", b"WEIRWORK", 9, 24, 1, 0))
    answer = client.recv(65536)
    print(answer[24:344].split(b"\0")[0].decode())
    print("closed" if client.recv(1) == b"" else "open")
PYTHON
words="it speaks version 9 of the workers' protocol, this weir version 1"
assert_equal "what the client is told" "$words
closed" "$(cat "$WORK/version.out")"
assert_contains "what weir says" "$(cat "$WORK/hand.err")" "$words"

# ---- another weir on the same socket ----

weir_run twice --vdev net_null0 -- --worker-mode attached --workers 1 --attach-socket "$SOCKET" \
	--quiet
RUN_NAME=hand
assert_equal "a second weir at that socket" 2 "$WEIR_STATUS"
assert_contains "a second weir at that socket" "$(cat "$WORK/twice.err")" \
	"--attach-socket $SOCKET: allowed where nobody listens"

# ---- another user ----

if [ "$(id -u)" = 0 ]; then
	cp "$WEIR_BINARY" "$WORK/weir"
	chmod 755 "$WORK" "$WORK/weir"
	setpriv --reuid daemon --regid daemon --clear-groups timeout -k 5 30 "$WORK/weir" worker \
		--id 0 --socket "$SOCKET" >"$WORK/daemon.out" 2>&1
	[ $? = 2 ] || fail "a user who may not attach: $(cat "$WORK/daemon.out")"
	assert_contains "a user who may not attach" "$(cat "$WORK/daemon.out")" "Permission denied"
fi

# ---- the end ----

kill -s TERM "$WEIR_PID"
weir_wait
assert_equal "hand: exit status" 0 "$WEIR_STATUS"
wait "$first"
assert_equal "worker 0's exit status" 0 $?
wait "$second"
assert_equal "worker 1's exit status" 0 $?
report_check_ledger hand
report_check hand 'all(w["completed"] > 0 for w in r["workers"])' 'r["tx"]["sent"] > 0' \
	"r['workers'][1]['completed'] == $(packets_in "$WORK"/mine/worker-1*.pcap)"
[ ! -e "$SOCKET" ] || fail "the attach socket is still there"

# ---- packets that were there before the workers ----

N=1000 # less than the hold keeps
traffic "$WORK/in.pcap" "$N"
weir_start early --vdev "net_pcap0,rx_pcap=$WORK/in.pcap" -- --worker-mode attached --workers 2 \
	--attach-socket "$SOCKET" --overflow reject --handler "pcap:$WORK/early" --stats-period 0 \
	--report "$WORK/early.json"
early_received() {
	telemetry /weir/info >"$WORK/info.json" &&
		[ "$(json "$WORK/info.json" "r['/weir/info']['received']")" = "$N" ]
}
early_completed() {
	telemetry /weir/info >"$WORK/info.json" &&
		[ "$(json "$WORK/info.json" "r['/weir/info']['completed']")" = "$N" ]
}
wait_until "all packets wait" early_received
worker_start early0 --id 0 --socket "$SOCKET"
worker_start early1 --id 1 --socket "$SOCKET"
wait_until "all packets have gone to workers" early_completed
kill -s TERM "$WEIR_PID"
weir_wait
assert_equal "early: exit status" 0 "$WEIR_STATUS"
report_check_ledger early
report_check_nothing_dropped early
captures_found "$WORK/in.pcap" "$WORK"/early/worker-*.pcap

# ---- a weir that is killed: its workers notice ----

weir_start killed --vdev net_null0 -- --worker-mode attached --workers 1 --order none \
	--attach-socket "$SOCKET" --handler drop --stats-period 0
worker_start orphan --id 0 --socket "$SOCKET"
orphan=$WORKER_PID
orphan_works() {
	telemetry /weir/info >"$WORK/info.json" &&
		[ "$(json "$WORK/info.json" "r['/weir/info']['received']")" -gt 0 ] &&
		[ "$(status_of "$orphan" Seccomp)" = 2 ]
}
wait_until "the worker works" orphan_works
kill -KILL "$WEIR_PID"
wait "$WEIR_PID" 2>/dev/null
WEIR_PID=
wait "$orphan"
assert_equal "an orphan's exit status" 1 $?
assert_contains "an orphan" "$(cat "$WORK/orphan.out")" "worker 0: weir is gone"

# What it left lies there, and does not stop the next one.
[ -e "$SOCKET" ] || fail "a killed weir removes its socket"
weir_start again --vdev net_null0 -- --worker-mode process --workers 2 --order none \
	--attach-socket "$SOCKET" --handler drop --stats-period 0
children_work() {
	telemetry /weir/info >"$WORK/info.json" &&
		[ "$(json "$WORK/info.json" "r['/weir/info']['received']")" -gt 0 ]
}
wait_until "processes work" children_work
mapfile -t children < <(pgrep -P "$WEIR_PID" -f ' worker --id ')
assert_equal "processes of ours" 2 "${#children[@]}"
kill -KILL "$WEIR_PID"
wait "$WEIR_PID" 2>/dev/null
WEIR_PID=
children_are_gone() {
	local pid

	for pid in "${children[@]}"; do
		case $(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null) in
		'' | Z*) ;;
		*) return 1 ;;
		esac
	done
}
wait_until "processes end with their weir" children_are_gone
