#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two Weirs with one file prefix: the second ends with a line that says so, the first goes on.
. "$(dirname "$0")/common.sh"

packets_received() {
	telemetry /weir/info | "$PYTHON" -c '
import json, sys
print(json.load(sys.stdin)["/weir/info"]["received"])'
}

packets_flow_on() { # SINCE
	[ "$(packets_received)" -gt "$1" ]
}

weir_start first --vdev net_null0 -- --workers 1 --stats-period 0 --report "$WORK/first.json"

timeout -k 5 "$RUN_SECONDS" "$WEIR_BINARY" "${EAL[@]}" --vdev net_null0 -- --workers 1 \
	--packets 1 --report "$WORK/second.json" >"$WORK/second.out" 2>"$WORK/second.err" </dev/null
assert_equal "the second's exit status" 1 $?
assert_equal "the second's lines: $(cat "$WORK/second.err")" 1 "$(grep -c '^weir: ' "$WORK/second.err")"
assert_contains "the second's line" "$(grep '^weir: ' "$WORK/second.err")" --file-prefix
[ ! -e "$WORK/second.json" ] || fail "the second wrote a report"

kill -0 "$WEIR_PID" 2>/dev/null || fail "the first did not survive the second"
wait_until "the first goes on" packets_flow_on "$(packets_received)"
kill -s TERM "$WEIR_PID"
weir_wait
assert_equal "the first's exit status" 0 "$WEIR_STATUS"
report_check_ledger first
