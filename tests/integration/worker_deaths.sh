#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Worker processes of a running Weir, and all that may happen to one: stopped by a signal, crashed,
# gone by itself, hanging on the CPU and off it, too often dead, stopped at the end of the run. Each
# is told for what it is, the others go on, and the ledger stays exact (A16, X11; docs/supervision.md).
# A sanitizer that handles the signals would make other deaths of them.
export ASAN_OPTIONS="${ASAN_OPTIONS-}:handle_segv=0:handle_abort=0:handle_sigbus=0"
. "$(dirname "$0")/common.sh"

: "${WEIRCTL:?}"
SOCKET=$WORK/weir.sock

worker_key() { # ID KEY
	telemetry "/weir/worker,$1" |
		"$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["/weir/worker"][sys.argv[1]])' "$2"
}

worker_is() { # ID KEY VALUE
	[ "$(worker_key "$1" "$2")" = "$3" ]
}

worker_moves() { # ID: it takes packets
	local before

	before=$(worker_key "$1" received)
	wait_until "worker $1 takes packets" worker_has_more "$1" "$before"
}

worker_has_more() { # ID THAN
	[ "$(worker_key "$1" received)" -gt "$2" ]
}

worker_says() { # NEEDLE
	grep -q "$1" "$WORK/$RUN_NAME.err"
}

# worker_signal ID SIGNAL
worker_signal() {
	kill -s "$2" "$(worker_key "$1" pid)" || fail "worker $1 cannot be sent $2"
}

# worker_ends ID SIGNAL INCARNATION WORDS: it is replaced by that incarnation, and why is said.
worker_ends() {
	local pid

	pid=$(worker_key "$1" pid)
	worker_signal "$1" "$2"
	wait_until "worker $1 is replaced after $2" worker_is "$1" incarnation "$3"
	wait_until "worker $1 is ready after $2" worker_is "$1" state ready
	worker_says "worker $1 (process $pid) died: $4; .* restart $3 of 3 in 3600 s" ||
		fail "worker $1: no word of its death by $2: $4"
	worker_moves "$1"
}

# worker_hangs ID: flagged, ended and replaced; what it was given is not what it finished.
worker_hangs() {
	wait_until "worker $1 is replaced" worker_is "$1" incarnation 1
	wait_until "worker $1: words" worker_says "worker $1 (process [0-9]*) died: it was stuck; "
}

# ---- signals ----

weir_start signals --vdev net_null0 -- --worker-mode process --workers 3 --handler echo \
	--strategy round-robin --order none --restart 3/3600 --drain-timeout 2 --stats-period 0 \
	--attach-socket "$WORK/signals.attach" --control-socket "$SOCKET" \
	--report "$WORK/signals.json"

worker_moves 1
pid=$(worker_key 1 pid)
worker_signal 1 STOP
wait_until "worker 1 is lost" worker_is 1 flags lost
worker_says "worker 1 (process $pid) is lost: .* it was stopped by a signal" ||
	fail "that worker 1 is lost is not said"
worker_moves 0
assert_equal "a stopped worker's state" ready "$(worker_key 1 state)"
worker_signal 1 CONT
wait_until "worker 1 is back" worker_is 1 flags ""
worker_moves 1
assert_equal "it is the same process" "$pid" "$(worker_key 1 pid)"

worker_ends 1 SEGV 1 "signal 11"
worker_ends 1 KILL 2 "signal 9"
worker_ends 1 ABRT 3 "signal 6"
worker_signal 1 KILL
wait_until "worker 1 is quarantined" worker_is 1 state quarantined
assert_equal "its crashes" 4 "$(worker_key 1 crashes)"
worker_moves 0
"$WEIRCTL" --socket "$SOCKET" worker add 1 >/dev/null || fail "a quarantined worker cannot be added"
wait_until "worker 1 is forgiven" worker_is 1 state ready
worker_moves 1

# The end finds one that is stopped: it is ended, and what it has is written off, no more.
worker_signal 2 STOP
wait_until "worker 2 is lost" worker_is 2 flags lost
kill -INT "$WEIR_PID"
weir_wait
assert_equal "signals: exit status" 0 "$WEIR_STATUS"
worker_says "worker 2 .* does not stop: it is ended" || fail "the end of worker 2 is not said"
report_check_ledger signals
report_check signals 'r["crashes"] == 4' 'r["restarts"] == 3' \
	'r["dropped"]["drain_timeout"] <= r["workers"][2]["dropped"].get("drain_timeout", 0)' \
	'r["workers"][0]["crashes"] == 0'

# ---- handlers that hang, with the CPU and without it ----

weir_start hangs --vdev net_null0 -- --worker-mode process --workers 3 --handler echo \
	--handler 0=burn:20000000000 --handler 1=wait:20000000000 --strategy round-robin \
	--order none --stuck-after 2 --restart 1/3600 --drain-timeout 1 --stats-period 0 \
	--attach-socket "$WORK/hangs.attach" --control-socket none --report "$WORK/hangs.json"
worker_hangs 0
worker_hangs 1
worker_says "worker 0 (process [0-9]*) is lost: .* though it has the CPU" ||
	fail "a worker that burns its CPU is not lost"
! worker_says "worker 1 (process [0-9]*) is lost" || fail "a worker that sleeps is lost"
worker_moves 2
wait_until "worker 0 is quarantined" worker_is 0 state quarantined
wait_until "worker 1 is quarantined" worker_is 1 state quarantined
worker_moves 2
kill -INT "$WEIR_PID"
weir_wait
assert_equal "hangs: exit status" 0 "$WEIR_STATUS"
report_check_ledger hangs
# Of the third one nothing is said: it has the CPU only when the others leave it.
report_check hangs 'all(w["crashes"] == 2 and w["restarts"] == 1 for w in r["workers"][:2])' \
	'all(0 < w["dropped"]["crash_inflight"] <= 64 for w in r["workers"][:2])' \
	'r["dropped"]["crash_inflight"] == sum(w["dropped"]["crash_inflight"] for w in r["workers"])'

# ---- one that is slow ----

weir_start slow --vdev net_null0 -- --worker-mode process --workers 3 --handler wait:100000 \
	--handler 2=wait:2000000 --strategy round-robin --order none --stats-period 0 \
	--attach-socket "$WORK/slow.attach" --control-socket none --report "$WORK/slow.json"
wait_until "worker 2 is slow" worker_is 2 flags slow
worker_moves 2
kill -INT "$WEIR_PID"
weir_wait
assert_equal "slow: exit status" 0 "$WEIR_STATUS"
report_check_ledger slow
report_check slow 'r["crashes"] == 0'
