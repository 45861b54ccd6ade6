#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# One worker's disk is full: its packets are counted as sink_failed, its file ends behind a whole
# packet, the other workers go on, and Weir says which file it was and does not exit as if all were
# well.
. "$(dirname "$0")/common.sh"
[ "$(id -u)" = 0 ] || skip "mounting a small file system needs root"

N=8000
small_unmount() {
	umount "$WORK/small"
}

mkdir "$WORK/small" "$WORK/sink" || exit 1
mount -t tmpfs -o size=64k tmpfs "$WORK/small" 2>"$WORK/mount.err" ||
	skip "the kernel lacks tmpfs: $(cat "$WORK/mount.err")"
cleanup_add small_unmount
ln -s "$WORK/small/worker-2.pcap" "$WORK/sink/worker-2.pcap"

traffic "$WORK/in.pcap" "$N"
weir_run run --vdev "net_pcap0,rx_pcap=$WORK/in.pcap" -- --workers 4 --strategy round-robin \
	--overflow reject --handler "pcap:$WORK/sink" --exit-idle 0.5 --stats-period 0 --quiet \
	--report "$WORK/run.json"
assert_equal "exit status" 1 "$WEIR_STATUS"
assert_contains "stderr" "$(cat "$WORK/run.err")" \
	"worker 2: $WORK/sink/worker-2.pcap: No space left on device"
report_check_ledger run
report_check run "r['received'] == $N" 'r["dropped"]["sink_failed"] > 0' \
	'r["workers"][2]["dropped"]["sink_failed"] == r["dropped"]["sink_failed"]' \
	'sum(r["dropped"].values()) == r["dropped"]["sink_failed"]' \
	'all(w["completed"] == w["received"] for w in r["workers"] if w["id"] != 2)'
for id in 0 1 2 3; do
	stored=$(packets_in "$WORK/sink/worker-$id.pcap")
	consumed=$(report run \
		"r['workers'][$id]['received'] - r['workers'][$id]['dropped'].get('sink_failed', 0)")
	assert_equal "packets in worker $id's file" "$consumed" "$stored"
done
