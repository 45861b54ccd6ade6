#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# weir-bench runs, balances and says what it measured: a tiny run of each sub-command, the keys and
# the exact counts of its JSON, and its refusals. No timing is asserted.
# From meson: WEIR_BENCH, the program.
set -u -o pipefail
export LC_ALL=C

: "${WEIR_BENCH:?}"
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT

fail() {
	echo "FAILED: $*"
	exit 1
}

# Runs COMMAND over few packets; the JSON is in $WORK/COMMAND.json.
bench_run() { # COMMAND [OPTION...]
	local command=$1

	shift
	"$WEIR_BENCH" "$command" --rounds 1 --packets 640 --workers 1,4,16 --lane-size 64 \
		--json "$WORK/$command.json" "$@" >"$WORK/table" 2>"$WORK/errors" ||
		fail "$command: status $?: $(cat "$WORK/errors")"
	grep -q '^subject ' "$WORK/table" || fail "$command: no table: $(cat "$WORK/table")"
}

# Refuses with status 2 and one line that has all of WORDS.
bench_refuses() { # WORDS ARGUMENT...
	local words=$1
	local status
	local word

	shift
	"$WEIR_BENCH" "$@" >"$WORK/output" 2>"$WORK/errors"
	status=$?
	[ "$status" -eq 2 ] || fail "weir-bench $*: status $status, expected 2"
	[ "$(wc -l <"$WORK/errors")" -eq 1 ] || fail "weir-bench $*: $(cat "$WORK/errors")"
	[ ! -s "$WORK/output" ] || fail "weir-bench $*: printed $(cat "$WORK/output")"
	for word in $words; do
		grep -qF -- "$word" "$WORK/errors" || fail "no $word in: $(cat "$WORK/errors")"
	done
}

# Both threads on one CPU, so that it runs anywhere.
cpu=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
bench_run lane
bench_run dispatch
bench_run parse
bench_run owners
bench_run rules
bench_run dispatch --cpus "$cpu,$cpu"
grep -q 'MEAN NOTHING' "$WORK/table" || fail "figures of a shared CPU are not marked"

python3 - "$WORK" <<'PYTHON' || exit 1
import json, sys

MACHINE = {"cpu_model", "kernel", "governor", "cpus", "cpu_relation", "cpu_shared", "tsc_hz",
           "reading_cost_cycles", "reading_cost_drained_cycles"}
BUILD = {"version", "compiler", "build_type"}
OPTIONS = {"rounds", "packets", "burst", "lane_size", "backlog", "seed"}
CASE = {"subject", "situation", "workers", "chunk", "packets_in", "packets_out", "ratio",
        "cycles_per_packet", "preempted_per_round"}
DRAINED = {"cycles_drained_per_packet"}
COUNTS = {"depth_visits_per_burst", "line_reads_per_burst"}
STRATEGIES = {"shallowest", "round-robin", "random", "first", "last", "rendezvous"}
FRAMES = {"ipv4-udp", "ipv4-tcp", "ipv6-udp", "ipv6-tcp", "fragment", "qinq", "mpls", "ipip", "gre",
          "vxlan", "vxlan-ipv6", "geneve", "gtpu", "mixed"}
LANES = {"lane", "lane-meta", "lane-counter", "ring-return", "ring-counter", "ring-plain"}
# Mirror entries per 32-packet burst: four and sixteen workers, idle and uniformly backlogged.
VISITS = {("idle", 1): 32, ("idle", 4): 53, ("idle", 16): 47,
          ("backlog", 1): 32, ("backlog", 4): 56, ("backlog", 16): 62}


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def report_read(command, keys, subjects):
    with open(f"{sys.argv[1]}/{command}.json") as file:
        report = json.load(file)
    check(report["command"] == command, f"{command}: is {report['command']}")
    for part, expected in (("machine", MACHINE), ("build", BUILD), ("options", OPTIONS)):
        check(set(report[part]) >= expected, f"{command}: {part} has {sorted(report[part])}")
    results = report["results"]
    found = {case["subject"] for case in results}
    check(found >= subjects, f"{command}: subjects are {sorted(found)}")
    for case in results:
        name = f"{command} {case['subject']} {case['situation']} {case['workers']}"
        check(set(case) >= keys, f"{name}: keys are {sorted(case)}")
        # 20 timed bursts of 32, one lap of every lane before them.
        check(case["packets_in"] == 640 + case["workers"] * 64, f"{name}: {case['packets_in']} in")
        check(case["packets_out"] == case["packets_in"], f"{name}: {case['packets_out']} out")
        for key in keys:
            figure = case[key]
            if isinstance(figure, dict):
                check(set(figure) == {"median", "min", "max", "rounds"}, f"{name}: {key} {figure}")
                check(len(figure["rounds"]) == 1, f"{name}: {key} has not one round")
    return results


report_read("parse", CASE, FRAMES)
report_read("rules", CASE, {"0 rules", "1 rule", "8 rules", "63 rules"})
report_read("lane", CASE | DRAINED, LANES)
for case in report_read("dispatch", CASE | DRAINED | COUNTS, STRATEGIES):
    if case["subject"] == "shallowest" and case["chunk"] == 1:
        where = (case["situation"], case["workers"])
        visits = case["depth_visits_per_burst"]["median"]
        check(visits == VISITS[where], f"shallowest {where}: {visits} visits per burst")
PYTHON

# Exact: what no strategy may change unnoticed. Of one worker all is its own, and nothing moves.
python3 - "$WORK/owners.json" <<'PYTHON' || exit 1
import json, sys

KEYS = ("load_min", "load_max", "moved_beyond_mean_percent", "moved_beyond_max_percent")
ALONE = (1, 1, 0, 0)
SIXTEEN = {"rendezvous": (0.976, 1.023, 0, 0), "ring": (0.891, 1.172, 0, 0), "maglev": (1, 1, 0.326, 0.383)}

with open(sys.argv[1]) as file:
    results = json.load(file)["results"]
found = {(case["subject"], case["workers"]): tuple(round(case[key]["median"], 3) for key in KEYS)
         for case in results}
for subject, sixteen in SIXTEEN.items():
    for workers, expected in ((1, ALONE), (16, sixteen)):
        figures = found.get((subject, workers))
        if figures != expected:
            sys.exit(f"FAILED: owners {subject} {workers}: {figures}, expected {expected}")
PYTHON

bench_refuses 'COMMAND lanes lane' lanes
bench_refuses 'COMMAND (nothing)'
bench_refuses '--rounds 0 1 1000' lane --rounds 0
bench_refuses '--rounds -1' lane --rounds -1
bench_refuses '--rounds (nothing)' lane --rounds
bench_refuses '--workers 1,257 256' lane --workers 1,257
bench_refuses '--workers 1,, 256' lane --workers 1,,
bench_refuses '--burst 257 256' dispatch --burst 257
bench_refuses '--lane-size 39 40' dispatch --lane-size 39
bench_refuses '--packets 31 32' dispatch --packets 31
bench_refuses '--cpus 0 CPUs' dispatch --cpus 0
bench_refuses '--cpus 1023,1023 CPUs' dispatch --cpus 1023,1023
bench_refuses '--seed 0x1' dispatch --seed 0x1
bench_refuses '--subject nobody shallowest, rendezvous' dispatch --subject nobody
bench_refuses '--json /nonexistent/x' dispatch --json /nonexistent/x
bench_refuses '--wrokers' dispatch --wrokers 4
"$WEIR_BENCH" --help | grep -q -- '--rounds N' || fail "--help does not list --rounds"
echo "lane, dispatch, parse, owners and rules run and balance; 16 bad command lines are refused"
