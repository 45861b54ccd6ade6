#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What DPDK's telemetry socket tells of a running Weir, and that bad questions harm nobody.
. "$(dirname "$0")/common.sh"

# shellcheck disable=SC2054 # the commas belong to the questions
GOOD=(/ /weir/info /weir/workers /weir/worker,0 /weir/worker,1 /weir/worker,2 /weir/rules /weir/rx)
# No such worker, or no number at all, or no such command.
# shellcheck disable=SC2054
BAD=(/weir/worker /weir/worker,3 /weir/worker,256 /weir/worker,65536 /weir/worker,4294967296
	/weir/worker,-1 '/weir/worker,' /weir/worker,x /weir/worker,1x '/weir/worker, 1'
	/weir/worker,1,2 /weir/worker,99999999999999999999999 /weir/nothing)

telemetry_flows() {
	telemetry /weir/info >"$WORK/flow.json" &&
		[ "$(json "$WORK/flow.json" 'r["/weir/info"]["received"] > 0')" = True ]
}

weir_start run --vdev net_null0 -- --workers 3 --rx-cores 1 --strategy round-robin \
	--lane-size 100 --stats-period 0 --report "$WORK/run.json"
wait_until "packets flow" telemetry_flows

# Into one JSON object: question → answer. The last question shows that the bad ones did no harm.
telemetry "${GOOD[@]}" "${BAD[@]}" /weir/info >"$WORK/answers" || fail "no answer"
"$PYTHON" - "$WORK/answers" "${GOOD[@]}" "${BAD[@]}" last >"$WORK/asked.json" <<'PYTHON'
import json, sys
answers = [json.loads(line) for line in open(sys.argv[1])]
print(json.dumps({"answer": dict(zip(sys.argv[2:], answers, strict=True))}))
PYTHON
kill -s TERM "$WEIR_PID"
weir_wait
assert_equal "exit status" 0 "$WEIR_STATUS"
report_check_ledger run
report_check run 'r["mbufs"]["free"] == r["mbufs"]["free_at_start"] == r["mbufs"]["total"]'

# a(QUESTION): the value that the answer has under the question's own name.
a='(lambda q: r["answer"][q][q.partition(",")[0]])'
report_check asked \
	"all(c in $a('/') for c in ['/weir/info', '/weir/workers', '/weir/worker', '/weir/rules', '/weir/rx'])" \
	"$a('/weir/info')['strategy'] == 'round-robin'" \
	"$a('/weir/info')['overflow'] == 'drop-new'" \
	"$a('/weir/info')['version'] != ''" \
	"$a('/weir/info')['received'] > 0" \
	"len($a('/weir/workers')) == 3" \
	"len($a('/weir/rx')) == 1" \
	"$a('/weir/info')['mbufs_free_at_start'] <= $a('/weir/info')['mbufs_total']" \
	"0 < $a('/weir/info')['mbufs_free'] < $a('/weir/info')['mbufs_total']" \
	"$a('/weir/rx')['0']['loop_max_ns'] > 0"
for id in 0 1 2; do
	report_check asked "$a('/weir/worker,$id')['id'] == $id" \
		"$a('/weir/worker,$id')['received'] > 0" \
		"$a('/weir/worker,$id')['max_depth'] <= 100"
done
for bad in "${BAD[@]}"; do
	report_check asked "list(r['answer']['$bad'].values()) in ([None], [{}])"
done

# Counters only grow, up to what the report says.
first=$(report asked "$a('/weir/info')['received']")
last=$(report asked "r['answer']['last']['/weir/info']['received']")
report_check run "$first <= $last <= r['received']"
