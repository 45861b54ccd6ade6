#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What is dropped is in the file, each with its reason and the worker that it was for, as the report
# counts (M10); alarms say which worker was too deep (M2). A disk that fills up is said once, costs
# samples and no packet.
. "$(dirname "$0")/common.sh"

N=800 # fewer than one rx core can keep at a time: all are lost within milliseconds
LANE=16
traffic "$WORK/in.pcap" "$N"

# Worker 1 of two takes 10 ms for a packet; half of all packets are for it.
run_overflowing() { # NAME OPTION...
	local name=$1

	shift
	weir_run "$name" --vdev "net_pcap0,rx_pcap=$WORK/in.pcap" -- --workers 2 --order none \
		--strategy round-robin --lane-size "$LANE" --handler drop \
		--handler 1=wait:10000000 --exit-idle 0.5 --drain-timeout 30 --stats-period 0 \
		--report "$WORK/$name.json" "$@"
	report_check_ledger "$name"
}

# Prints "REASON WORKER COUNT" for every pair in a pcapng file, and fails if that is damaged.
dead_count() { # FILE
	"$PYTHON" - "$1" <<'PYTHON'
import collections, struct, sys
data = open(sys.argv[1], "rb").read()
counts = collections.Counter()
at = 0
while at < len(data):
    kind, length = struct.unpack_from("<II", data, at)
    assert length % 4 == 0 and at + length <= len(data), "half a block"
    assert struct.unpack_from("<I", data, at + length - 4)[0] == length, "lengths differ"
    if kind == 6:
        kept, = struct.unpack_from("<I", data, at + 20)
        option = at + 28 + (kept + 3) // 4 * 4
        code, size = struct.unpack_from("<HH", data, option)
        assert code == 1, "no comment"
        words = data[option + 4:option + 4 + size].decode().split()
        counts[tuple(word.split("=")[1] for word in words[:2])] += 1
    at += length
for (reason, worker), n in sorted(counts.items()):
    print(reason, worker, n)
PYTHON
}

# The same by the report's books: what is charged to workers, and what is lost at random.
report_count() { # NAME
	report "$1" '"\n".join(" ".join(t) for t in sorted((reason, str(w["id"]), str(n)) for w in r["workers"] for reason, n in w["dropped"].items() if n))'
}

run_overflowing all --dead-packets "$WORK/all.pcapng" --depth-alarm 4
assert_equal "exit status" 0 "$WEIR_STATUS"
report_check all "r['capture_lost'] == 0" "r['captured'] == sum(r['dropped'].values())" \
	'r["dropped"]["handler_drop"] > 0' 'r["dropped"]["overflow_drop_new"] > 100'
assert_equal "dead packets by reason and worker" "$(report_count all)" \
	"$(dead_count "$WORK/all.pcapng")"
assert_equal "packets that libpcap reads" "$(report all 'r["captured"]')" \
	"$(packets_in "$WORK/all.pcapng")"
report_check all "r['workers'][1]['depth_alarms'] >= 3" \
	"r['workers'][1]['overflow_alarms'] == r['workers'][1]['dropped']['overflow_drop_new'].bit_length()"
assert_contains "stderr" "$(cat "$WORK/all.err")" "worker 1: depth reached $LANE (alarms 1 to "
assert_contains "stderr" "$(cat "$WORK/all.err")" "worker 1: its lane was full for"

run_overflowing some --dead-packets "$WORK/some.pcapng" --dead-sample 10 --quiet
assert_equal "exit status" 0 "$WEIR_STATUS"
report_check some "r['captured'] == (sum(r['dropped'].values()) + 9) // 10"
assert_equal "packets that libpcap reads" "$(report some 'r["captured"]')" \
	"$(packets_in "$WORK/some.pcapng")"
assert_equal "stderr of a quiet run" "" "$(grep ^weir: "$WORK/some.err")"

run_overflowing none --quiet
report_check none "r['captured'] == 0" "r['capture_lost'] == 0"

[ "$(id -u)" = 0 ] || skip "the rest mounts a small file system, which needs root"
small_unmount() {
	umount "$WORK/small"
}
mkdir "$WORK/small"
mount -t tmpfs -o size=64k tmpfs "$WORK/small" 2>"$WORK/mount.err" ||
	skip "the kernel lacks tmpfs: $(cat "$WORK/mount.err")"
cleanup_add small_unmount
run_overflowing full --dead-packets "$WORK/small/dead.pcapng" --quiet
assert_equal "exit status" 1 "$WEIR_STATUS"
report_check full "r['received'] == $N" "r['capture_lost'] > 0" "r['captured'] > 0" \
	"r['captured'] + r['capture_lost'] == sum(r['dropped'].values())"
assert_equal "lines about the disk" \
	"weir: --dead-packets $WORK/small/dead.pcapng: No space left on device; no more of them are stored" \
	"$(grep ^weir: "$WORK/full.err")"
assert_equal "packets in the file" "$(report full 'r["captured"]')" \
	"$(dead_count "$WORK/small/dead.pcapng" | awk '{ n += $3 } END { print n }')"
