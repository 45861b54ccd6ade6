#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Signals under load: the first one drains and reports, a second one ends at once. What a drain leaves
# behind when its time is up is counted, and the ledger balances.
. "$(dirname "$0")/common.sh"

packets_flow() {
	[ "$(telemetry /weir/info | "$PYTHON" -c '
import json, sys
print(json.load(sys.stdin)["/weir/info"]["received"] > 1000)')" = True ]
}

for signal in INT TERM; do
	weir_start "sig_$signal" --vdev net_null0 -- --workers 3 --stats-period 0 \
		--report "$WORK/sig_$signal.json"
	wait_until "packets flow" packets_flow
	kill -s "$signal" "$WEIR_PID"
	weir_wait
	assert_equal "exit status after SIG$signal" 0 "$WEIR_STATUS"
	report_check_ledger "sig_$signal"
	report_check "sig_$signal" 'r["received"] > 1000'
	# The final table is printed although no table was asked for on the way.
	assert_contains "the final table" "$(cat "$WORK/sig_$signal.out")" ledger
	assert_contains "the final table" "$(cat "$WORK/sig_$signal.out")" worker
done

# Worker 1 is stuck for a minute; the drain may take as long. A second signal does not wait for it.
weir_start second --vdev net_null0 -- --workers 2 --handler 1=wait:60000000000 \
	--drain-timeout 60 --stats-period 0 --report "$WORK/second.json"
wait_until "packets flow" packets_flow
kill -s INT "$WEIR_PID"
sleep 0.5
kill -0 "$WEIR_PID" 2>/dev/null || fail "the drain did not wait for the stuck worker"
kill -s INT "$WEIR_PID"
RUN_SECONDS=20 weir_wait
[ "$WEIR_STATUS" != 0 ] || fail "a drain that was broken off must not look like a good end"

# The drain gives up on worker 1: what it has is drain_timeout, and nothing is unaccounted for.
weir_start timeout --vdev net_null0 -- --workers 2 --rx-cores 1 --lane-size 32 \
	--handler 1=wait:60000000000 --drain-timeout 0.3 --stats-period 0 \
	--report "$WORK/timeout.json"
wait_until "packets flow" packets_flow
kill -s TERM "$WEIR_PID"
weir_wait
assert_equal "exit status after a drain timeout" 0 "$WEIR_STATUS"
report_check_ledger timeout
report_check timeout 'r["dropped"]["drain_timeout"] > 0' 'r["dropped"]["drain_timeout"] <= 32' \
	'r["workers"][1]["dropped"]["drain_timeout"] == r["dropped"]["drain_timeout"]' \
	'r["workers"][1]["completed"] == 0'
