#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Worker 1 of four takes two seconds for a packet, so it finishes next to nothing. `shallowest` gives
# it no more than others have waiting; `round-robin` gives it its full quarter whatever its depth.
# Under `drop-head` its lane keeps the newest of what it was given.
. "$(dirname "$0")/common.sh"

N=20000
LANE=64
traffic "$WORK/in.pcap" "$N"

run_stalled() { # NAME OPTION...
	local name=$1

	shift
	weir_run_ok "$name" --vdev "net_pcap0,rx_pcap=$WORK/in.pcap" -- --workers 4 --order none \
		--rx-cores 1 --lane-size "$LANE" --handler forward --handler 1=wait:2000000000 \
		--exit-idle 0.5 --drain-timeout 0.5 --stats-period 0 --quiet \
		--report "$WORK/$name.json" "$@"
	report_check_ledger "$name"
	report_check "$name" "r['received'] == $N"
}

# What was given to a worker, whatever became of it.
GIVEN='(lambda w: w["completed"] + sum(w["dropped"].values()))'

# Nothing is dropped on the way: worker 1 has at most what fits its lane, the others all the rest.
run_stalled shallowest --strategy shallowest --overflow reject
report_check shallowest "sum($GIVEN(w) for w in r['workers']) == $N" \
	"$GIVEN(r['workers'][1]) <= $LANE" \
	"all(w['completed'] > 10 * $LANE for w in r['workers'] if w['id'] != 1)" \
	'sum(r["dropped"].values()) == r["workers"][1]["dropped"].get("drain_timeout", 0)'

# A quarter for each, worker 1 included; what its lane does not take is dropped and charged to it.
run_stalled round_robin --strategy round-robin --overflow drop-new
report_check round_robin "all($GIVEN(w) == $N // 4 for w in r['workers'])" \
	"r['workers'][1]['dropped']['overflow_drop_new'] >= $N // 4 - 2 * $LANE"

# Likewise, but it is the oldest that go; those in its hands do not, and fit beside a full lane.
run_stalled drop_head --strategy round-robin --overflow drop-head
report_check drop_head "all($GIVEN(w) == $N // 4 for w in r['workers'])" \
	"r['workers'][1]['dropped']['overflow_drop_head'] >= $N // 4 - 3 * $LANE" \
	"r['dropped']['overflow_drop_new'] == 0"

# Slow workers behind tiny lanes, no drain timeout: what is not evicted comes out, and nothing else
# is lost.
weir_run_ok slow --vdev "net_pcap0,rx_pcap=$WORK/in.pcap,tx_pcap=$WORK/out.pcap" -- --workers 4 \
	--lane-size 4 --overflow drop-head --handler wait:200000 --exit-idle 0.5 --stats-period 0 \
	--quiet --report "$WORK/slow.json"
report_check_ledger slow
report_check slow "r['received'] == $N" "r['dropped']['overflow_drop_head'] > 0" \
	"sum(r['dropped'].values()) == r['dropped']['overflow_drop_head']" \
	"r['tx']['sent'] == $N - r['dropped']['overflow_drop_head']" "r['tx']['sent'] > 0"
