#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Workers in processes of their own that Weir starts: what comes in goes out, packet for packet, with
# every kind of handler, with frames of many buffers, with copies; with pages of either size, as root
# and as nobody in particular.
. "$(dirname "$0")/common.sh"

N=20000
traffic "$WORK/in.pcap" "$N"

processes_run() { # NAME INPUT OPTION...
	local name=$1 input=$2

	shift 2
	weir_run_ok "$name" --vdev "net_pcap0,rx_pcap=$input,tx_pcap=$WORK/$name.pcap" -- \
		--worker-mode process --attach-socket "$WORK/$name.sock" --overflow reject \
		--exit-idle 0.5 --stats-period 0 --quiet --report "$WORK/$name.json" "$@"
	report_check_ledger "$name"
	report_check "$name" 'sum(r["dropped"].values()) == 0'
	[ ! -e "$WORK/$name.sock" ] || fail "$name: its attach socket is still there"
}

files_of() { # NAME
	printf '%s\n' "$WORK/$1"/worker-*.pcap
}

# ---- a sink and a port ----

processes_run sink "$WORK/in.pcap" --workers 4 --handler "pcap:$WORK/sink"
report_check sink "r['received'] == $N" "r['completed'] == $N" \
	"all(w['completed'] > 0 for w in r['workers'])"
mapfile -t files < <(files_of sink)
assert_equal "files of four workers" 4 "${#files[@]}"
captures_found "$WORK/in.pcap" "${files[@]}"

processes_run forward "$WORK/in.pcap" --workers 4
report_check forward "r['tx']['sent'] == $N"
captures_found "$WORK/in.pcap" "$WORK/forward.pcap"

# ---- frames that take several buffers ----

traffic "$WORK/large.pcap" 2000 --min-size 3000 --max-size 9014
processes_run jumbo "$WORK/large.pcap" --workers 3 --handler "pcap:$WORK/jumbo"
mapfile -t files < <(files_of jumbo)
captures_found "$WORK/large.pcap" "${files[@]}"
processes_run chains "$WORK/in.pcap" --workers 3 --mbuf-size 1152 --handler "0=pcap:$WORK/chains"
mapfile -t files < <(files_of chains)
captures_found "$WORK/in.pcap" "$WORK/chains.pcap" "${files[@]}"

# ---- copies: readers share the bytes, and see none of what a writer does ----

processes_run clones "$WORK/in.pcap" --workers 3 --strategy broadcast --lane-size 1024 \
	--handler "pcap:$WORK/clones"
report_check clones "r['copies'] == 2 * $N" "r['completed'] == 3 * $N"
mapfile -t files < <(files_of clones)
for file in "${files[@]}"; do
	captures_found "$WORK/in.pcap" "$file"
done
processes_run writer "$WORK/in.pcap" --workers 3 --strategy broadcast --lane-size 1024 \
	--handler "pcap:$WORK/writer" --handler 0=swap-mac
captures_found "$WORK/in.pcap" "$WORK/writer/worker-1.pcap"
captures_found "$WORK/in.pcap" "$WORK/writer/worker-2.pcap"
assert_equal "packets sent by the writer" "$N" "$(packets_in "$WORK/writer.pcap")"

# ---- a lane that evicts ----

weir_run_ok evict --vdev "net_pcap0,rx_pcap=$WORK/in.pcap" -- --worker-mode process \
	--attach-socket "$WORK/evict.sock" --workers 2 --overflow drop-head --lane-size 16 \
	--handler wait:20000 --exit-idle 0.5 --stats-period 0 --quiet --report "$WORK/evict.json"
report_check_ledger evict
report_check evict "r['received'] == $N" 'r["dropped"]["overflow_drop_head"] > 0' \
	'r["completed"] + r["dropped"]["overflow_drop_head"] == r["received"]'

# ---- a handler that cannot be opened ----

weir_run unwritable --vdev "net_pcap0,rx_pcap=$WORK/in.pcap" -- --worker-mode process \
	--attach-socket "$WORK/unwritable.sock" --workers 2 --handler "pcap:/proc/none" \
	--exit-idle 0.5 --stats-period 0 --quiet
[ "$WEIR_STATUS" != 0 ] || fail "a weir whose workers cannot open their handler ends well"
assert_contains "what the worker says" "$(cat "$WORK/unwritable.err")" \
	"worker 0: --handler pcap:/proc/none: allowed a directory that can be written to"
assert_contains "what weir says" "$(cat "$WORK/unwritable.err")" \
	"ended before all were ready: exit status 2"

# ---- huge pages ----

huge_free() {
	awk '/^HugePages_Free:/ { print $2 }' /proc/meminfo
}

if [ "$(id -u)" = 0 ] && [ "$(huge_free)" -ge 48 ]; then
	eal_arguments() {
		EAL=(--in-memory -m 32 --no-pci "--file-prefix=$PREFIX-$1")
	}
	processes_run huge "$WORK/in.pcap" --workers 4 --handler "pcap:$WORK/huge"
	mapfile -t files < <(files_of huge)
	captures_found "$WORK/in.pcap" "${files[@]}"
	weir_run short --vdev "net_pcap0,rx_pcap=$WORK/in.pcap" -- --worker-mode process \
		--attach-socket "$WORK/short.sock" --workers 64 --lane-size 8192 --quiet
	assert_equal "with too few huge pages" 2 "$WEIR_STATUS"
	assert_contains "with too few huge pages" "$(cat "$WORK/short.err")" \
		"in pages of 2048 kB, more than "
	eal_arguments() {
		EAL=(--no-huge -m 256 --no-pci "--file-prefix=$PREFIX-$1")
	}
else
	echo "not seen: huge pages. It needs root and 48 free ones; there are $(huge_free)"
fi

# ---- not root ----

if [ "$(id -u)" = 0 ]; then
	mkdir "$WORK/plain" "$WORK/plain/run"
	cp "$WORK/in.pcap" "$WORK/plain/in.pcap"
	cp "$WEIR_BINARY" "$WORK/plain/weir"
	chown -R nobody "$WORK/plain"
	chmod 755 "$WORK"
	WEIR_WRAPPER=(setpriv --reuid nobody --regid nogroup --clear-groups
		env "XDG_RUNTIME_DIR=$WORK/plain/run")
	binary=$WEIR_BINARY
	WEIR_BINARY=$WORK/plain/weir
	weir_run_ok plain --vdev "net_pcap0,rx_pcap=$WORK/plain/in.pcap" -- --worker-mode process \
		--workers 2 --overflow reject --handler "pcap:$WORK/plain/out" --exit-idle 0.5 \
		--stats-period 0 --quiet
	captures_found "$WORK/in.pcap" "$WORK/plain/out"/worker-{0,1}.pcap
	weir_run other --vdev net_null0 -- --worker-mode process --worker-user daemon --quiet
	assert_equal "another user without root" 2 "$WEIR_STATUS"
	WEIR_BINARY=$binary
	WEIR_WRAPPER=()
else
	echo "not seen: a weir that is not root, apart from all of the above, which was not"
fi
