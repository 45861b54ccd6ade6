#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Has spin search every interleaving of the model lifecycle.pml, within small bounds; then breaks
# the model in one place after the other: each must be found. README.md tells what the model says.
set -u -o pipefail
export LC_ALL=C

MODEL=$(cd "$(dirname "$0")" && pwd)/lifecycle.pml
MEMORY_MB=1500 # of one search
DEPTH_MAX=100000

command -v spin >/dev/null || {
	echo "SKIPPED: spin is not installed: tools/setup test"
	exit 77
}
WORK=$(mktemp -d "${TMPDIR:-/tmp}/weir-model-XXXXXX") || exit 1
trap 'rm -rf "$WORK"' EXIT
cd "$WORK" || exit 1

fail() {
	echo "FAILED: $*"
	cat "$WORK/pan.out" 2>/dev/null
	exit 1
}

# search OPTIMISATION DEFINITION...: what the search says is in pan.out.
search() {
	local optimisation=$1

	shift
	rm -f pan pan.* ./*.trail
	spin -a "$@" "$MODEL" >spin.out 2>&1 || fail "$*: spin: $(cat spin.out)"
	gcc "$optimisation" -w -DSAFETY -DCOLLAPSE -DMEMLIM="$MEMORY_MB" -o pan pan.c ||
		fail "$*: the search does not compile"
	./pan -n -m"$DEPTH_MAX" >pan.out 2>&1 || fail "$*: the search ended with $?"
}

number_before() { # WORDS, of the line in pan.out
	sed -n "s/^ *\([0-9]*\) $1.*/\1/p" pan.out | head -n 1
}

# Nothing may be wrong, and the search must have been whole.
holds() { # DEFINITION...
	search -O2 "$@"
	grep -q 'errors: 0$' pan.out || fail "$*: a promise is broken"
	! grep -qE 'Search not completed|depth too small|MEMLIM|out of memory' pan.out ||
		fail "$*: the search is not whole"
	echo "holds: $*: $(number_before 'states, stored') states, depth $(
		sed -n 's/.*depth reached \([0-9]*\).*/\1/p' pan.out)"
}

# The search must find what was broken, by the assertion that is meant to.
is_found() { # ASSERTION DEFINITION...
	local assertion=$1

	shift
	search -O0 "$@"
	grep -q 'errors: 1$' pan.out || fail "$*: is not found"
	grep -q "assertion violated.*$assertion" pan.out || fail "$*: found by another assertion"
	echo "found: $*"
}

# One worker that dies twice, or that dies and drains; two, of which one dies.
holds -DN_WORKERS=1 -DPKTS_0=2 -DPKTS_1=1 -DDEATHS=2
holds -DN_WORKERS=1 -DPKTS_0=2 -DPKTS_1=1 -DDEATHS=2 -DREDELIVER
holds -DN_WORKERS=1 -DPKTS_0=2 -DPKTS_1=1 -DDEATHS=1 -DDRAINS=1
holds -DN_WORKERS=2 -DPKTS_0=3 -DPKTS_1=0 -DDEATHS=1

is_found newest_home -DN_WORKERS=1 -DBUG_BEHIND
is_found newest_home -DN_WORKERS=2 -DPKTS_1=0 -DBUG_HARVESTED_EARLY
is_found newest_home -DN_WORKERS=1 -DBUG_OVERTAKES
is_found n_received -DN_WORKERS=1 -DBUG_LOSES
is_found n_ended -DN_WORKERS=1 -DBUG_NO_REPORT
is_found n_executed -DN_WORKERS=1 -DBUG_RESTART_EARLY
is_found n_executed -DN_WORKERS=1 -DBUG_WRONG_START
is_found n_executed -DN_WORKERS=1 -DBUG_IN_PROCESS_LATE
is_found verdict -DN_WORKERS=1 -DBUG_COMPLETED_FIRST
is_found order_clean -DN_WORKERS=1 -DDEATHS=0 -DDRAINS=1 -DBUG_NO_DRAIN_AT
is_found order_clean -DN_WORKERS=1 -DDEATHS=0 -DDRAINS=2 -DBUG_OLD_DRAIN_AT
