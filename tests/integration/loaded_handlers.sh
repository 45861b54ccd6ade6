#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Handlers from files, plugin:FILE.so:ARGUMENTS: the example's counts of each flow are those of the
# capture, whole or in chains of buffers, over one port or two; one worker's handler is not the
# others'; what cannot be loaded is refused before a packet moves, and what goes wrong later is told.
. "$(dirname "$0")/common.sh"
: "${TOP_FLOWS_SO:?}" "${TEST_PLUGINS:?}" "${FLOW_LIST:?}"

N=3000
KEY=01000000000000000200000000000000 # that of FLOW_LIST
mkdir "$WORK/captures" || exit 1

# What the files of workers say of the flows of a capture, and what is in it.
cat >"$WORK/compare.py" <<'PYTHON'
import collections, struct, sys

def lengths(path):
    """Of the packets of a pcap file in this machine's byte order."""
    data, at = open(path, "rb").read(), 24
    while at < len(data):
        captured, length = struct.unpack_from("=II", data, at + 8)
        yield length
        at += 16 + captured

def flows_expected(capture, listing):
    flows = collections.defaultdict(lambda: [0, 0])
    rows = [line.split("\t") for line in open(listing)]
    for row, length in zip(rows, lengths(capture), strict=True):
        flows[row[2]][0] += 1
        flows[row[2]][1] += length
    return flows

def flows_counted(paths):
    """Per flow, "rest" being one; and the flows in the order of the first file."""
    flows, order = collections.defaultdict(lambda: [0, 0]), []
    for path in paths:
        lines = open(path).read().splitlines()
        assert lines[0] == "# flow packets bytes" and lines[-1].startswith("rest "), path
        for flow, packets, n_bytes in (line.split() for line in lines[1:]):
            flows[flow][0] += int(packets)
            flows[flow][1] += int(n_bytes)
            if path == paths[0]:
                order.append(flow)
    return flows, order[:-1]

capture, listing, times, top, *paths = sys.argv[1:]
times, top = int(times), int(top)
expected = {flow: [times * x for x in sums]
            for flow, sums in flows_expected(capture, listing).items()}
counted, order = flows_counted(paths)
busiest = sorted(expected, key=lambda flow: (-expected[flow][0], flow))
if top:
    assert order == busiest[:top], (order, busiest)
    rest = [sum(expected[flow][i] for flow in busiest[top:]) for i in (0, 1)]
    expected = {flow: expected[flow] for flow in order}
else:
    rest = [0, 0]
assert counted == {**expected, "rest": rest}, (counted, expected, rest)
print(len(expected), "flows agree")
PYTHON

# counts_agree NAME TIMES TOP: what the workers of a run have written, each packet having passed so
# often. TOP: 0 if a file has every flow, else as many as it has at most.
counts_agree() {
	local files=("$WORK/$1".flows.*)

	"$PYTHON" "$WORK/compare.py" "$WORK/captures/in.pcap" "$WORK/list" "$2" "$3" "${files[@]}" ||
		fail "$1: $(cat "${files[@]}")"
}

# capture_make FLOWS: $WORK/captures/in.pcap, and $WORK/list of its packets' flows.
capture_make() {
	"$WEIR_TRAFFIC" --packets "$N" --flows "$1" --seed 1 "$WORK/captures/in.pcap" \
		>"$WORK/traffic.out" 2>&1 || fail "weir-traffic: $(cat "$WORK/traffic.out")"
	"$FLOW_LIST" "$WORK/captures" "$WORK/merged.pcap" >"$WORK/list" || fail "flow_list"
}

# counted NAME WORKERS [EAL ARGUMENT...] -- [OPTION...]
counted() {
	local name=$1 workers=$2

	shift 2
	weir_run_ok "$name" \
		--vdev "net_pcap0,rx_pcap=$WORK/captures/in.pcap,tx_pcap=$WORK/$name.pcap" "$@" \
		--workers "$workers" --overflow reject --exit-idle 0.5 --stats-period 0 \
		--hash-key "$KEY" --report "$WORK/$name.json" \
		--handler "plugin:$TOP_FLOWS_SO:$WORK/$name.flows"
	report_check_ledger "$name"
	report_check_nothing_dropped "$name"
	captures_found "$WORK/captures/in.pcap" "$WORK/$name.pcap"
	assert_contains "$name: the head" "$(cat "$WORK/$name.out")" \
		"plugin:$TOP_FLOWS_SO:$WORK/$name.flows: counts flows"
	assert_equal "$name: files" "$workers" "$(find "$WORK" -name "$name.flows.*" | wc -l)"
}

capture_make 8
counted few 3 --
counts_agree few 1 0
counted chains 2 -- --mbuf-size 384
counts_agree chains 1 0
# In by the capture, out to the ring, in by the ring, out to the other capture.
counted ring 2 --vdev net_ring0 -- --lane-size 64
counts_agree ring 2 0

# More flows than are told: the ten busiest, and the rest. The file of an earlier run is replaced.
capture_make 200
cp "$WORK/few.flows.0" "$WORK/many.flows.0"
counted many 1 --
counts_agree many 1 10

# ---- each worker its own ----
weir_run_ok mixed --vdev "net_pcap0,rx_pcap=$WORK/captures/in.pcap" -- --workers 3 --order none \
	--strategy broadcast --overflow reject --lane-size 1024 --exit-idle 0.5 --stats-period 0 \
	--report "$WORK/mixed.json" --handler "pcap:$WORK/mixed" \
	--handler "0=plugin:$TEST_PLUGINS/handler_marks.so"
report_check_ledger mixed
report_check mixed "r['copies'] == 2 * $N" "[w['completed'] for w in r['workers']] == [$N] * 3"
assert_equal "files of pcap" "worker-1.pcap worker-2.pcap" "$(cd "$WORK/mixed" && echo *)"
# The file says that it writes to packets: no copy shares its bytes with another one.
captures_found "$WORK/captures/in.pcap" "$WORK/mixed/worker-1.pcap"
captures_found "$WORK/captures/in.pcap" "$WORK/mixed/worker-2.pcap"

# ---- what goes wrong ----
# plugin_run NAME SPEC: with the capture for input, and no packet moved before.
plugin_run() {
	rm -f "$WORK/moved.pcap"
	weir_run "$1" --vdev "net_pcap0,rx_pcap=$WORK/captures/in.pcap,tx_pcap=$WORK/moved.pcap" -- \
		--exit-idle 0.5 --stats-period 0 --overflow reject --report "$WORK/$1.json" \
		--handler "$2"
}

refused() { # SPEC REASON
	plugin_run refused "$1"
	assert_equal "$1: exit status" 2 "$WEIR_STATUS"
	assert_equal "$1: lines on stderr" 1 "$(grep -c -v -E '^[A-Z_]+: ' "$WORK/refused.err")"
	assert_contains "$1" "$(cat "$WORK/refused.err")" "weir: --handler $1: $2"
	[ ! -e "$WORK/moved.pcap" ] || [ "$(packets_in "$WORK/moved.pcap")" = 0 ] ||
		fail "$1: packets moved"
}

refused plugin:/nonexistent.so "No such file"
refused "plugin:$TEST_PLUGINS/handler_version.so" "is built for version 99 of the handler ABI"
refused "plugin:$TEST_PLUGINS/handler_crash.so" "crashed with signal 11 in the trial"
refused "plugin:$TEST_PLUGINS/handler_loop.so" "took longer than 2 s in the trial"
refused "plugin:$TEST_PLUGINS/handler_stores.so" "stores to packets' bytes, without WRITES"
refused "plugin:$TEST_PLUGINS/late.so" "exports no weir_handler_plugin"
refused "plugin:$TOP_FLOWS_SO" "allowed a file, not ''"
# Behind the trial, when the ports are there.
refused "plugin:$TOP_FLOWS_SO:$WORK/absent/x" "allowed a file that can be written, not '"
refused "plugin:$TEST_PLUGINS/handler_late_begin_fails.so" "allowed a begin"
refused "plugin:$TEST_PLUGINS/handler_tells.so:x" "allowed worker 0.0, "
# A refused run has not touched what an earlier one left.
printf 'mine\n' >"$WORK/kept.0"
weir_run kept --vdev net_null0 -- --workers 1 --packets 1 --stats-period 0 --report "$WORK/absent/r" \
	--handler "plugin:$TOP_FLOWS_SO:$WORK/kept"
assert_equal "kept: exit status" 2 "$WEIR_STATUS"
assert_equal "kept: the file" mine "$(cat "$WORK/kept.0")"

plugin_run late "plugin:$TEST_PLUGINS/handler_late.so"
assert_equal "verdicts that are none: exit status" 0 "$WEIR_STATUS"
report_check_ledger late
report_check late "r['dropped']['bad_verdict'] == $N" "r['completed'] == 0"
plugin_run unclosed "plugin:$TEST_PLUGINS/handler_late_close_fails.so"
assert_equal "a close that fails: exit status" 1 "$WEIR_STATUS"
assert_contains "a close that fails" "$(cat "$WORK/unclosed.err")" "weir: the disk is full"
