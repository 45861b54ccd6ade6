#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Orders to worker threads while packets flow: pause, resume, drain, add, kill, remove, one more. The
# ledger stays exact, and every worker's own books agree with the rx core's.
. "$(dirname "$0")/common.sh"

: "${WEIRCTL:?}"
SOCKET=$WORK/weir.sock

order() { # WORD...
	local said

	said=$("$WEIRCTL" --socket "$SOCKET" "$@" 2>&1) || fail "weirctl $*: $said"
}

order_refused() { # NEEDLE WORD...
	local needle=$1 said

	shift
	said=$("$WEIRCTL" --socket "$SOCKET" "$@" 2>&1) && fail "weirctl $*: was granted: $said"
	assert_contains "weirctl $*" "$said" "$needle"
}

worker_key() { # ID KEY
	telemetry "/weir/worker,$1" |
		"$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["/weir/worker"][sys.argv[1]])' "$2"
}

worker_is() { # ID STATE
	[ "$(worker_key "$1" state)" = "$2" ]
}

worker_moves() { # ID THAN: it has taken more than so many packets
	[ "$(worker_key "$1" received)" -gt "$2" ]
}

weir_start life --vdev net_null0 -- --workers 3 --workers-max 4 --handler echo --strategy round-robin --order none \
	--drain-timeout 20 --stats-period 0 --control-socket "$SOCKET" --report "$WORK/life.json"

order worker pause 1
wait_until "worker 1 is paused" eval '[ "$(worker_key 1 flags)" = paused ]'
before=$(worker_key 1 received)
wait_until "the others go on" worker_moves 0 $(($(worker_key 0 received) + 1000))
# What it had in its hands when it was told, and no more.
[ "$(worker_key 1 received)" -le $((before + 32)) ] || fail "worker 1 takes packets while it is paused"
order_refused "paused already" worker pause 1
order worker resume 1
wait_until "worker 1 goes on" worker_moves 1 $((before + 1000))

order worker drain 0
wait_until "worker 0 has stopped" worker_is 0 stopped
before=$(worker_key 0 received)
wait_until "the others go on" worker_moves 2 $(($(worker_key 2 received) + 1000))
assert_equal "packets of a worker that has stopped" "$before" "$(worker_key 0 received)"
order worker add 0
wait_until "worker 0 is back" worker_is 0 ready
assert_equal "its incarnation" 1 "$(worker_key 0 incarnation)"
wait_until "worker 0 works" worker_moves 0 $((before + 1000))

assert_equal "worker 3" free "$(worker_key 3 state)"
order worker add 3
wait_until "worker 3 works" worker_moves 3 1000
order worker kill 3
wait_until "worker 3 has stopped" worker_is 3 stopped
order worker add 3
wait_until "worker 3 is back" worker_is 3 ready
order worker remove 3
wait_until "worker 3 is gone" worker_is 3 free
order_refused "must be in the pool" worker remove 3
order_refused "workers are 0 to 3" worker add 4

# The end comes while one is paused: it finishes too.
order worker pause 2
kill -INT "$WEIR_PID"
weir_wait
assert_equal "exit status" 0 "$WEIR_STATUS"
report_check_ledger life
report_check life 'r["crashes"] == 0' 'r["restarts"] == 0' \
	'r["dropped"]["drain_timeout"] == 0' 'r["dropped"]["crash_inflight"] == 0' \
	'r["workers"][0]["incarnation"] == 1' 'r["workers"][3]["state"] == "free"' \
	'all(w["kind"] == "thread" for w in r["workers"])' \
	'all(w["received"] == w["completed"] for w in r["workers"])' \
	'sum(w["lent"] - w["received"] for w in r["workers"]) == sum(w["dropped"]["dead_worker"] for w in r["workers"])'

# Sixteen on one CPU, with an rx core on the other: late hearts, and nobody is lost for that.
weir_run_ok shared --vdev net_null0 -- --workers 16 --worker-cpus 1 --handler echo --duration 3 \
	--control-socket none --stats-period 0 --report "$WORK/shared.json"
report_check_ledger shared
assert_equal "workers that were lost" 0 "$(grep -c "is lost" "$WORK/shared.err")"
