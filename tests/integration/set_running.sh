#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Strategy, weights, overflow and rules are changed while packets flow, or refused with nothing
# changed. Order through changes is for order_kept.sh and the random tests of the library.
. "$(dirname "$0")/common.sh"
: "${WEIRCTL:?}"

SOCKET=$WORK/run.sock
FILE=$WORK/weir.ini

ctl() { "$WEIRCTL" --socket "$SOCKET" "$@" >"$WORK/ctl.out" 2>"$WORK/ctl.err"; }

granted() { # NEEDLE WORDS...: prints what is said, too
	local needle=$1

	shift
	ctl "$@" || fail "weirctl $*: $(cat "$WORK/ctl.err")"
	assert_contains "weirctl $*" "$(cat "$WORK/ctl.out")" "$needle"
}

refused() { # NEEDLE WORDS...
	local needle=$1

	shift
	if ctl "$@"; then fail "weirctl $*: granted"; fi
	assert_equal "weirctl $*: lines" 1 "$(wc -l <"$WORK/ctl.err")"
	assert_contains "weirctl $*" "$(cat "$WORK/ctl.err")" "$needle"
}

# live EXPRESSION: of the picture r that Weir has of itself.
live() {
	ctl status || fail "no status: $(cat "$WORK/ctl.err")"
	"$PYTHON" -c "import json,sys; r = json.load(open(sys.argv[1])); print($1)" "$WORK/ctl.out"
}

# grows EXPRESSION: waits until it is more than it was.
grows() {
	GROWS_FROM=$(live "$1")
	GROWS=$1
	wait_until "$1 grows" has_grown
}

has_grown() { [ "$(live "$GROWS")" -gt "$GROWS_FROM" ]; }

cat >"$FILE" <<-'INI'
	[weir]
	strategy = first
	lane-size = 64
INI
weir_start run --vdev net_null0 -- --workers 3 --stats-period 0 --control-socket "$SOCKET" \
	--config "$FILE" --order none --report "$WORK/run.json" --handler drop

# ---- strategy and weights ----

grows 'r["workers"][0]["lent"]'
assert_equal "others than the first" 0 "$(live 'r["workers"][2]["lent"]')"
granted "any may move" set strategy last
grows 'r["workers"][2]["lent"]'
refused "allowed shallowest" set strategy fastest
refused "this takes a restart" set strategy broadcast
assert_equal strategy last "$(live 'r["strategy"]')"
granted "each gets an owner" try strategy rendezvous
assert_equal "strategy after a try" last "$(live 'r["strategy"]')"
granted "each gets an owner" set strategy rendezvous
granted "get another worker" try strategy maglev
refused "one weight for each" set weights 1,2
# A third of the buckets has an owner that leaves; nobody else's moves.
granted "worker 2 is draining" worker drain 2
moved=$(sed -n 's/^flows: \([0-9]*\) of 65536 .*/\1/p' "$WORK/ctl.out")
[ "${moved:-0}" -gt 20000 ] && [ "$moved" -lt 24000 ] || fail "of three owners one leaves: $moved move"
wait_until "worker 2 has stopped" eval '[ "$(live "r[\"workers\"][2][\"state\"]")" = stopped ]'
granted "flows: $moved of 65536" worker add 2
wait_until "worker 2 is back" eval '[ "$(live "r[\"workers\"][2][\"state\"]")" = ready ]'
granted "get another worker" set weights 1,1,5
granted "get another worker" set weights 1,1,1
# What would be of no effect is refused; a setting can be taken back.
refused "only with a strategy that reads weights" set strategy shallowest
granted "get another worker" set weights -
granted "any may move" set strategy shallowest
granted "any may move" set strategy -
assert_equal "strategy of the command line" first "$(live 'r["strategy"]')"
granted "any may move" set strategy round-robin
grows 'r["workers"][1]["lent"]'

# ---- overflow ----

refused "do not evict" set overflow drop-head
granted "any may move" set overflow reject

# ---- rules ----

printf '[weir]\nlane-size = 64\n[rules]\nrule = len < 100 => drop\n' >"$FILE"
granted "any may move" reload
grows 'r["dropped"]["rule_drop"]'
assert_equal "rules" 1 "$(live 'len(r["rules"])')"
# What was set stays in force over a reload.
assert_equal strategy round-robin "$(live 'r["strategy"]')"
printf '[weir]\nlane-size = 64\n[rules]\nrule = len < 100 => drip\n' >"$FILE"
refused "drip" reload
printf '[weir]\nlane-size = 32\n[rules]\nrule = len < 100 => drop\n' >"$FILE"
refused "--lane-size: allowed only as at the start" reload
printf '[weir]\nlane-size = 64\n[rules]\nrule = udp => urgent\n' >"$FILE"
refused "urgent" reload
assert_equal "rules" 1 "$(live 'len(r["rules"])')"
cat >"$WORK/other.ini" <<-'INI'
	[weir]
	lane-size = 64
	[rules]
	rule = len > 1000 => drop
	rule = len < 100 => last
INI
granted "any may move" set config "$WORK/other.ini"
assert_equal "rules" 2 "$(live 'len(r["rules"])')"
grows 'r["rules"][1]["matched"]'
assert_equal "the first of the new rules" 0 "$(live 'r["rules"][0]["matched"]')"
refused "No such file" set config "$WORK/absent.ini"
: >"$WORK/other.ini" # what is in the file is read by those two only
refused "--lane-size" reload
mkfifo "$WORK/pipe"
refused "a regular file" set config "$WORK/pipe"

# ---- many, and the books at the end ----

for i in {1..40}; do
	granted "" set strategy rendezvous
	granted "" set strategy shallowest
done
granted "the run ends" stop
weir_wait
assert_equal "exit status" 0 "$WEIR_STATUS"
report_check run 'r["ledger_ok"]' 'r["strategy"] == "shallowest"' 'len(r["rules"]) == 2'
