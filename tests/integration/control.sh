#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The control socket of a running Weir, asked by weirctl: who may ask, what is answered, and that
# neither a hostile client nor a killed Weir is in the way of the next one.
. "$(dirname "$0")/common.sh"
: "${WEIRCTL:?}"

NOBODY=(setpriv --reuid=65534 --regid=65534 --clear-groups)

# ctl WORDS...: asks at $SOCKET; the exit status in STATUS, what was said in SAID and COMPLAINT.
ctl() {
	timeout -k 5 "$RUN_SECONDS" "$WEIRCTL" --socket "$SOCKET" "$@" \
		>"$WORK/ctl.out" 2>"$WORK/ctl.err"
	STATUS=$?
	SAID=$(cat "$WORK/ctl.out")
	COMPLAINT=$(cat "$WORK/ctl.err")
}

ctl_ok() {
	ctl "$@"
	assert_equal "weirctl $*: exit status ($COMPLAINT)" 0 "$STATUS"
	assert_equal "weirctl $*: complaints" "" "$COMPLAINT"
}

ctl_refused() { # NEEDLE WORDS...
	local needle=$1

	shift
	ctl "$@"
	assert_equal "weirctl $*: exit status ($SAID)" 1 "$STATUS"
	assert_equal "weirctl $*: lines of complaint" 1 "$(wc -l <"$WORK/ctl.err")"
	assert_contains "weirctl $*" "$COMPLAINT" "$needle"
}

# clients KIND N SECONDS: N clients that hold a connection each, in the background as CLIENTS_PID.
# mute: sends nothing. deaf: asks, and reads nothing.
clients() {
	"$PYTHON" - "$SOCKET" "$@" <<'PYTHON' &
import socket, sys, time
path, kind, n, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
held = []
for _ in range(n):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    client.connect(path)
    client.setblocking(False)
    held.append(client)
    if kind == "deaf":
        client.send(b"status")
time.sleep(seconds)
PYTHON
	CLIENTS_PID=$!
}

socket_is_there() { [ -S "$SOCKET" ]; }

# ---- without a Weir ----

SOCKET=$WORK/none.sock
ctl_refused "no weir answers" workers
"$WEIRCTL" >/dev/null 2>&1
assert_equal "weirctl without a request: exit status" 2 $?
"$WEIRCTL" --socket a --prefix b workers >/dev/null 2>&1
assert_equal "weirctl with socket and prefix: exit status" 2 $?
"$WEIRCTL" --nonsense workers >/dev/null 2>&1
assert_equal "weirctl with a wrong option: exit status" 2 $?
assert_contains "weirctl --help" "$("$WEIRCTL" --help)" "end the run"

# ---- the usual place ----

weir_start usual --vdev net_null0 -- --workers 3 --stats-period 0 --report "$WORK/usual.json"
SOCKET=$CONTROL_FOLDER/$PREFIX-usual.sock
if socket_is_there; then
	assert_equal "mode of $SOCKET" 600 "$(stat -c %a "$SOCKET")"
	assert_contains "by prefix" "$("$WEIRCTL" --prefix "$PREFIX-usual" workers)" thread
elif [ "$(id -u)" = 0 ]; then
	fail "root has no control socket: $SOCKET"
else
	assert_contains "without a place" "$(cat "$WORK/usual.err")" "no control socket"
fi
kill -s TERM "$WEIR_PID"
weir_wait
assert_equal "exit status" 0 "$WEIR_STATUS"
! socket_is_there || fail "left behind: $SOCKET"
[ ! -e "$SOCKET.lock" ] || fail "left behind: $SOCKET.lock"

# ---- requests ----

SOCKET=$WORK/run.sock
weir_start run --vdev net_null0 -- --workers 3 --stats-period 0 --control-socket "$SOCKET" \
	--report "$WORK/run.json"
assert_equal "mode of $SOCKET" 600 "$(stat -c %a "$SOCKET")"
ctl_ok help
assert_contains help "$SAID" status
ctl_ok workers
assert_equal "lines of workers" 4 "$(wc -l <"$WORK/ctl.out")"
ctl_ok status
cp "$WORK/ctl.out" "$WORK/live.json"
report_check live 'r["version"] != ""' 'len(r["workers"]) == 3' 'r["received"] > 0'
ctl_refused "unknown request: nonsense" nonsense 1 2 3
ctl_refused "ASCII" $'sta\xfftus'
ctl_refused "the request is: stop" stop now

# ---- orders ----

# worker_is ID PHASE FLAGS INCARNATION
worker_is() {
	ctl_ok workers
	[ "$(awk -v id="$1" '$1 == id { print $3, $4, $5 }' "$WORK/ctl.out")" = "$2 $3 $4" ]
}

ctl_ok worker pause 1
assert_contains "pause" "$SAID" "worker 1 is paused"
worker_is 1 ready paused 0 || fail "worker 1 is not paused: $SAID"
ctl_refused "it is paused already" worker pause 1
ctl_ok worker resume 1
worker_is 1 ready - 0 || fail "worker 1 does not go on: $SAID"
ctl_refused "workers are 0 to 2" worker drain 3
ctl_ok worker drain 2
wait_until "worker 2 is stopped" worker_is 2 stopped - 0
ctl_ok worker add 2
wait_until "worker 2 is back" worker_is 2 ready - 1
ctl_ok worker kill 2
wait_until "worker 2 is stopped again" worker_is 2 stopped - 1
ctl_ok worker remove 1
wait_until "worker 1 has left" worker_is 1 free - 0
ctl_ok worker add 1
wait_until "worker 1 is back" worker_is 1 ready - 1

# ---- strangers ----

if [ "$(id -u)" = 0 ]; then
	chmod 755 "$WORK"
	cp "$WEIRCTL" "$WORK/weirctl"
	"${NOBODY[@]}" "$WORK/weirctl" --socket "$SOCKET" help >"$WORK/ctl.out" 2>"$WORK/ctl.err"
	assert_equal "nobody, by the mode: exit status" 1 $?
	assert_contains "nobody, by the mode" "$(cat "$WORK/ctl.err")" "Permission denied"
	# Whoever opens the file to others still opens no door.
	chmod 666 "$SOCKET"
	for request in help stop status; do
		"${NOBODY[@]}" "$WORK/weirctl" --socket "$SOCKET" "$request" \
			>"$WORK/ctl.out" 2>"$WORK/ctl.err"
		assert_equal "nobody, by its credentials: exit status" 1 $?
		assert_contains "nobody, by its credentials" "$(cat "$WORK/ctl.err")" "user 65534 may not ask"
		assert_equal "what nobody is told" "" "$(cat "$WORK/ctl.out")"
	done
	chmod 600 "$SOCKET"
	ctl_ok help
fi

# ---- a second Weir ----

eal_arguments second
timeout -k 5 "$RUN_SECONDS" "$WEIR_BINARY" "${EAL[@]}" --vdev net_null0 -- --workers 1 \
	--packets 1 --control-socket "$SOCKET" >"$WORK/second.out" 2>"$WORK/second.err" </dev/null
assert_equal "the second's exit status" 2 $?
assert_equal "the second's lines: $(cat "$WORK/second.err")" 1 "$(grep -c '^weir: ' "$WORK/second.err")"
assert_contains "the second's line" "$(grep '^weir: ' "$WORK/second.err")" "$SOCKET"
ctl_ok workers

# ---- many clients, and bad ones ----

PIDS=()
for i in {1..100}; do
	timeout -k 5 "$RUN_SECONDS" "$WEIRCTL" --socket "$SOCKET" status >"$WORK/many.$i" 2>&1 &
	PIDS+=($!)
done
for pid in "${PIDS[@]}"; do
	wait "$pid" || fail "one of 100 clients: exit status $?: $(cat "$WORK"/many.* | grep weirctl)"
done
"$PYTHON" -c 'import json, sys; [json.load(open(path)) for path in sys.argv[1:]]' "$WORK"/many.* ||
	fail "one of 100 clients did not get it all"

# They hold every place for as long as they are let, and the next one is served after them.
for kind in mute deaf; do
	clients "$kind" 8 30
	sleep 1
	ctl_ok workers
	kill "$CLIENTS_PID"
	wait "$CLIENTS_PID" 2>/dev/null
done
received=$(report live 'r["received"]')
ctl_ok status
cp "$WORK/ctl.out" "$WORK/live.json"
report_check live "r['received'] > $received"

# ---- killed, and its successor ----

kill -KILL "$WEIR_PID"
wait "$WEIR_PID" 2>/dev/null
WEIR_PID=
socket_is_there || fail "a killed Weir has removed its socket"
ctl_refused "Connection refused" workers
weir_start heir --vdev net_null0 -- --workers 2 --stats-period 0 --control-socket "$SOCKET" \
	--report "$WORK/heir.json"
ctl_ok workers
assert_equal "lines of workers" 3 "$(wc -l <"$WORK/ctl.out")"
ctl_ok stop
weir_wait
assert_equal "exit status after stop" 0 "$WEIR_STATUS"
report_check_ledger heir
! socket_is_there || fail "left behind: $SOCKET"

# ---- refused paths, and none ----

weir_run none --vdev net_null0 -- --workers 1 --packets 1 --control-socket none
assert_equal "none: exit status" 0 "$WEIR_STATUS"
[ ! -e "$CONTROL_FOLDER/$PREFIX-none.sock" ] || fail "none, and a socket was made"
for path in "$WORK" /nonexistent/s "$WORK/$(printf 'x%.0s' {1..120})"; do
	weir_run refused --vdev net_null0 -- --workers 1 --packets 1 --control-socket "$path"
	assert_equal "$path: exit status" 2 "$WEIR_STATUS"
	assert_contains "$path" "$(cat "$WORK/refused.err")" "weir: --control-socket"
done
