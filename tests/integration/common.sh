# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Sourced by every integration test: a folder that is removed at the end, running Weir, reading its
# report, and assertions that print both values. Exit status of a test: 0 passed, 77 skipped for a
# printed reason, anything else failed. Only processes that the test has started are ended.
#
# From meson: WEIR_BINARY, WEIR_TRAFFIC, PCAP_COMPARE, PCAP_MERGE, WEIR_SOURCE_ROOT. From the user, if
# at all: WEIR_CAPTURES.

set -u -o pipefail
export LC_ALL=C
: "${WEIR_BINARY:?}" "${WEIR_TRAFFIC:?}" "${PCAP_COMPARE:?}" "${PCAP_MERGE:?}" "${WEIR_SOURCE_ROOT:?}"
: "${WEIR_CAPTURES:=$WEIR_SOURCE_ROOT/../shared/captures}"

TEST_NAME=$(basename "$0" .sh)
WORK=$(mktemp -d "${TMPDIR:-/tmp}/weir-$TEST_NAME-XXXXXX") || exit 1
PREFIX=weir-test-$$ # of the EAL's file prefixes: tests may run side by side
EAL_FOLDER=/var/run/dpdk
[ "$(id -u)" = 0 ] || EAL_FOLDER=${XDG_RUNTIME_DIR:-/tmp}/dpdk
CONTROL_FOLDER=/run/weir
[ "$(id -u)" = 0 ] || CONTROL_FOLDER=${XDG_RUNTIME_DIR:-/nonexistent}/weir
RUN_SECONDS=60     # no single run takes longer; a hang is a failure, not a wait for ever
CLEANUPS=()
# The system's own where there is one: a version manager's wrapper costs half a second a call.
PYTHON=$(command -v /usr/bin/python3 || command -v python3) || exit 1
WEIR_PID=
WEIR_STATUS=

cleanup_add() {
	CLEANUPS+=("$1")
}

cleanup() {
	local i

	if [ -n "$WEIR_PID" ] && kill -0 "$WEIR_PID" 2>/dev/null; then
		kill -KILL "$WEIR_PID"
		wait "$WEIR_PID" 2>/dev/null
	fi
	for ((i = ${#CLEANUPS[@]} - 1; i >= 0; i--)); do
		"${CLEANUPS[i]}"
	done
	rm -rf "$WORK" "$EAL_FOLDER/$PREFIX"-* "$CONTROL_FOLDER/$PREFIX"-*
}
trap cleanup EXIT
trap 'exit 1' INT TERM

# What the last run said, for the log of a failed test; test_diagnose, if there is one, adds to it.
last_run_show() {
	[ -n "${RUN_NAME:-}" ] || return 0
	echo "--- $RUN_NAME: exit status ${WEIR_STATUS:-none yet}, stderr, then the end of stdout:"
	tail -n 20 "$WORK/$RUN_NAME.err"
	tail -n 40 "$WORK/$RUN_NAME.out"
	! declare -F test_diagnose >/dev/null || test_diagnose
}

fail() {
	echo "FAILED: $*"
	last_run_show
	exit 1
}

skip() {
	echo "SKIPPED: $*"
	exit 77
}

assert_equal() { # WHAT EXPECTED GOT
	[ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
}

assert_contains() { # WHAT TEXT NEEDLE
	case $2 in
	*"$3"*) ;;
	*) fail "$1: '$3' is not in: $2" ;;
	esac
}

# ---- Weir ----

# The EAL arguments of run NAME, into the array EAL.
eal_arguments() {
	EAL=(--no-huge -m 256 --no-pci "--file-prefix=$PREFIX-$1")
}

# weir_run NAME [EAL ARGUMENT...] -- [OPTION...]: runs to the end; the exit status is in
# WEIR_STATUS, output in $WORK/NAME.out and .err. WEIR_WRAPPER (an array) goes before the program.
WEIR_WRAPPER=()
weir_run() {
	RUN_NAME=$1
	shift
	eal_arguments "$RUN_NAME"
	${WEIR_WRAPPER[@]+"${WEIR_WRAPPER[@]}"} timeout -k 5 "$RUN_SECONDS" \
		"$WEIR_BINARY" "${EAL[@]}" "$@" \
		>"$WORK/$RUN_NAME.out" 2>"$WORK/$RUN_NAME.err" </dev/null
	WEIR_STATUS=$?
	[ "$WEIR_STATUS" != 124 ] || fail "$RUN_NAME: still running after $RUN_SECONDS s"
}

# Like weir_run, and the run must end well.
weir_run_ok() {
	weir_run "$@"
	assert_equal "$RUN_NAME: exit status" 0 "$WEIR_STATUS"
}

# weir_start NAME ...: runs in the background as WEIR_PID; returns once packets can flow.
weir_start() {
	RUN_NAME=$1
	shift
	eal_arguments "$RUN_NAME"
	WEIR_STATUS=
	${WEIR_WRAPPER[@]+"${WEIR_WRAPPER[@]}"} "$WEIR_BINARY" "${EAL[@]}" "$@" \
		>"$WORK/$RUN_NAME.out" 2>"$WORK/$RUN_NAME.err" </dev/null &
	WEIR_PID=$!
	wait_until "$RUN_NAME: answers by telemetry" weir_is_up
}

weir_is_up() {
	kill -0 "$WEIR_PID" 2>/dev/null || fail "$RUN_NAME: ended while it was starting"
	# The EAL's socket is there early and answers null to what is not registered yet.
	telemetry /weir/info 2>/dev/null | grep -q version
}

# Waits for WEIR_PID, which was asked to end; its exit status is in WEIR_STATUS.
weir_wait() {
	wait_until "$RUN_NAME: ends" weir_is_gone
	wait "$WEIR_PID"
	WEIR_STATUS=$?
	WEIR_PID=
}

# A zombie is gone: it waits for nobody but us.
weir_is_gone() {
	case $(sed 's/.*) //' "/proc/$WEIR_PID/stat" 2>/dev/null) in
	'' | Z*) return 0 ;;
	esac
	return 1
}

# wait_until WHAT COMMAND...: polls until COMMAND is true, for RUN_SECONDS at most.
wait_until() {
	local what=$1 deadline=$((SECONDS + RUN_SECONDS))

	shift
	until "$@"; do
		[ "$SECONDS" -lt "$deadline" ] || fail "$what: not within $RUN_SECONDS s"
		sleep 0.05
	done
}

# telemetry COMMAND...: the answers of the last started Weir, one JSON text a line.
telemetry() {
	"$PYTHON" - "$EAL_FOLDER/$PREFIX-$RUN_NAME/dpdk_telemetry.v2" "$@" <<'PYTHON'
import socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
    client.settimeout(10)
    client.connect(sys.argv[1])
    client.recv(65536)
    for command in sys.argv[2:]:
        client.send(command.encode())
        print(client.recv(65536).decode())
PYTHON
}

# ---- reports and captures ----

# json FILE EXPRESSION: the value of a Python expression over the JSON object `r`.
json() {
	"$PYTHON" -c 'import json, sys
r = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$1" "$2"
}

# report NAME EXPRESSION: of the report $WORK/NAME.json.
report() {
	json "$WORK/$1.json" "$2" || fail "$1: no report, or $2 is not in it"
}

# report_check NAME EXPRESSION...: each must be true.
report_check() {
	local name=$1 untrue

	shift
	untrue=$("$PYTHON" -c 'import json, sys
r = json.load(open(sys.argv[1]))
print("\n".join(e for e in sys.argv[2:] if eval(e) is not True))' "$WORK/$name.json" "$@") ||
		fail "$name: no report, or it lacks something of: $*"
	[ -z "$untrue" ] || fail "$name: not true: $untrue; report: $(cat "$WORK/$name.json")"
}

# The ledger, computed here from the report's numbers: its own opinion is not enough.
report_check_ledger() {
	report_check "$1" 'r["ledger_ok"] is True' \
		'r["received"] + r["copies"] == r["completed"] + sum(r["dropped"].values()) + r["held"] + r["in_lanes"]' \
		'sum(q["received"] for q in r["rx"]) == r["received"]' \
		'r["held"] == 0 and r["in_lanes"] == 0'
}

report_check_nothing_dropped() {
	report_check "$1" 'sum(r["dropped"].values()) == 0' 'r["completed"] == r["received"]' \
		'all(sum(w["dropped"].values()) == 0 for w in r["workers"])'
}

# captures_found INPUT FILE...: the packets of INPUT are in the FILEs, once each.
captures_found() {
	"$PCAP_COMPARE" "$@" || fail "pcap_compare $*"
}

captures_required() {
	: "${WEIR_CAPTURES:=$WEIR_SOURCE_ROOT/../shared/captures}"
	[ -d "$WEIR_CAPTURES" ] ||
		skip "the captures folder is absent: $WEIR_CAPTURES (WEIR_CAPTURES names another)"
}

packets_in() { # FILE
	"$PCAP_COMPARE" "$1" "$1" | sed 's/input \([0-9]*\) packets.*/\1/'
}

# traffic FILE PACKETS [OPTION...]: traffic of the project's own generator, from TRAFFIC_SEED.
TRAFFIC_SEED=1
traffic() {
	local file=$1 n=$2

	shift 2
	"$WEIR_TRAFFIC" --packets "$n" --flows $((n < 200 ? n : 200)) \
		--seed "$TRAFFIC_SEED" "$@" "$file" >"$WORK/traffic.out" 2>&1 ||
		fail "weir-traffic: $(cat "$WORK/traffic.out")"
	assert_equal "packets of weir-traffic" "$n" "$(packets_in "$file")"
}
