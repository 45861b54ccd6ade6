#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `weir why`: exact text for small captures, a sentence that names the cause of an imbalance, captures
# that cannot be read, and no privileges.
. "$(dirname "$0")/common.sh"

# why NAME WORD...: runs to the end; the exit status is in WEIR_STATUS.
why() {
	RUN_NAME=$1
	shift
	timeout -k 5 "$RUN_SECONDS" "$WEIR_BINARY" why "$@" \
		>"$WORK/$RUN_NAME.out" 2>"$WORK/$RUN_NAME.err" </dev/null
	WEIR_STATUS=$?
}

why_ok() {
	why "$@"
	assert_equal "$RUN_NAME: exit status" 0 "$WEIR_STATUS"
	assert_equal "$RUN_NAME: stderr" "" "$(cat "$WORK/$RUN_NAME.err")"
}

why_says() {
	assert_contains "$RUN_NAME" "$(tr '\n' ' ' <"$WORK/$RUN_NAME.out")" "$1"
}

why_fails() { # STATUS NEEDLE NAME WORD...
	local status=$1 needle=$2

	shift 2
	why "$@"
	assert_equal "$RUN_NAME: exit status" "$status" "$WEIR_STATUS"
	assert_equal "$RUN_NAME: lines on stderr" 1 "$(wc -l <"$WORK/$RUN_NAME.err")"
	assert_contains "$RUN_NAME" "$(cat "$WORK/$RUN_NAME.err")" "$needle"
}

golden() {
	diff -u - "$WORK/$RUN_NAME.out" || fail "$RUN_NAME: the text differs"
}

# Captures built by hand: no tool, no checksum, nothing random. A packet every microsecond.
"$PYTHON" - "$WORK" <<'PYTHON' || fail "the captures cannot be written"
import struct, sys

def eth(payload, kind=0x0800):
    return bytes.fromhex("020000000002020000000001") + struct.pack("!H", kind) + payload

def ipv4(payload, protocol, source, target, fragment=0):
    return struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), 7, fragment, 64, protocol, 0) + \
        bytes([10, 0, 0, source, 10, 0, 0, target]) + payload

def udp(payload, source, target):
    return struct.pack("!HHHH", source, target, 8 + len(payload), 0) + payload

def tcp(source, target):
    return struct.pack("!HHIIBBHHH", source, target, 0, 0, 0x50, 0, 0, 0, 0)

def write(name, packets, link_type=1, cut=0):
    records = b"".join(struct.pack("<IIII", 1000, i, len(p), len(p)) + p
                       for i, p in enumerate(packets))
    data = struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, link_type) + records
    open(f"{sys.argv[1]}/{name}.pcap", "wb").write(data[:len(data) - cut])

query = eth(ipv4(udp(b"", 4096, 53), 17, 1, 2))
answer = eth(ipv4(udp(b"", 53, 4096), 17, 2, 1))
inner = eth(ipv4(tcp(80, 4000), 6, 3, 4))
vxlan = eth(struct.pack("!HH", 7, 0x0800) +
            ipv4(udp(struct.pack("!II", 0x08000000, 42 << 8) + inner, 5000, 4789), 17, 5, 6), 0x8100)
fragment = eth(ipv4(bytes(16), 17, 1, 2, 0x2000))
arp = eth(bytes(28), 0x0806)
write("small", [query, vxlan, answer, fragment, arp, query[:30], query[:9], b""])
write("cooked", [query], 113)
write("cut", [query, answer], cut=5)
write("none", [])
write("elephant", [eth(ipv4(udp(b"", 4096 + (0 if i % 3 else i), 53), 17, 1, 2)) for i in range(300)])
write("fragments", [fragment if i % 2 else eth(ipv4(udp(b"", 4096 + i, 53), 17, 1, 2))
                    for i in range(2000)])
write("collide", [eth(ipv4(udp(b"", 1 + i * 7919 % 65535, 53), 17, 1 + i % 200, 2))
                  for i in range(1000)])
PYTHON

# ---- exact text ----
why_ok small "$WORK/small.pcap" --service-ns 2500 --workers 3
golden <<'TEXT'
3 workers, strategy shallowest, order flow, overflow drop-new, service 2500 ns, seed 1,
hash key 000102030405060708090a0b0c0d0e0f

#1 0.000000000 s, 42 bytes: ethernet / ipv4 / udp
     10.0.0.1:4096 <> 10.0.0.2:53 udp
     bucket 45002, hash afcad59327c5f77b; asked (message 0); depths [0 0 0] -> worker 0
#2 0.000001000 s, 108 bytes: ethernet / vlan 7 / ipv4 / udp / vxlan 42 / ethernet / ipv4 / tcp
     10.0.0.3:80 <> 10.0.0.4:4000 tcp
     bucket 6868, hash 1ad4d20b30a08ee3; asked (message 1); depths [1 0 0] -> worker 1
#3 0.000002000 s, 42 bytes: ethernet / ipv4 / udp
     10.0.0.1:4096 <> 10.0.0.2:53 udp
     bucket 45002, hash afcad59327c5f77b; followed its pin to 0 (1 out); depths [1 1 0] -> worker 0
#4 0.000003000 s, 50 bytes: ethernet / ipv4
     10.0.0.1 <> 10.0.0.2 udp (fallback: fragment)
     bucket 59871, hash e9df89303ec5cb2d; asked (message 2); depths [1 1 0] -> worker 2
#5 0.000004000 s, 42 bytes: ethernet
     02:00:00:00:00:01 <> 02:00:00:00:00:02 (fallback: not_ip)
     bucket 33014, hash 80f6774bd7bc6625; asked (message 3); depths [1 0 1] -> worker 1
#6 0.000005000 s, 30 bytes: ethernet / ipv4 (cut)
     02:00:00:00:00:01 <> 02:00:00:00:00:02 (fallback: truncated_ip)
     bucket 33014, hash 80f6774bd7bc6625; followed its pin to 1 (1 out); depths [0 1 1] -> worker 1
#7 0.000006000 s, 9 bytes: ethernet (cut)
     unknown (fallback: truncated_mac)
     bucket 16446, hash 403e4b0d4f19f787; asked (message 4); depths [0 2 0] -> worker 2
#8 0.000007000 s, 0 bytes: ethernet (cut)
     unknown (fallback: truncated_mac)
     bucket 16446, hash 403e4b0d4f19f787; followed its pin to 2 (1 out); depths [0 1 1] -> worker 2

packets      8, 323 bytes, in 0.000007000 s
decisions    5 asked, 3 followed their pin, 0 stuck, 0 held, 0 waited; 0 moves of buckets
flows        5 in 5 buckets (1.000 buckets a flow)
collisions   0 flows share 0 buckets
fallbacks    1 (12.5 %) fragment
             1 (12.5 %) truncated_ip
             1 (12.5 %) not_ip
             2 (25.0 %) truncated_mac
imbalance    1.12 (most packets of a worker by their mean)
entropy      2.25 of 8 bits (use of the groups of buckets); too few packets to judge polarisation

worker       packets    share     flows     dropped
0                  2   25.0 %         1           0
1                  3   37.5 %         2           0
2                  3   37.5 %         2           0

largest flows
             2   25.0 %  bucket 16446  unknown
             2   25.0 %  bucket 33014  02:00:00:00:00:01 <> 02:00:00:00:00:02
             2   25.0 %  bucket 45002  10.0.0.1:4096 <> 10.0.0.2:53 udp
             1   12.5 %  bucket 6868   10.0.0.3:80 <> 10.0.0.4:4000 tcp
             1   12.5 %  bucket 59871  10.0.0.1 <> 10.0.0.2 udp

No worker got far more than its share.
TEXT
why_ok summary "$WORK/small.pcap" --service-ns 2500 --workers 3 --summary
assert_equal "the summary alone" "$(sed -n '/^packets/,$p' "$WORK/small.out")" \
	"$(sed -n '/^packets/,$p' "$WORK/summary.out")"
why_ok outer "$WORK/small.pcap" --packets 2 --flow-depth outer
golden <<'TEXT'
4 workers, strategy shallowest, order flow, overflow drop-new, service 0 ns, seed 1,
hash key 000102030405060708090a0b0c0d0e0f

#1 0.000000000 s, 42 bytes: ethernet / ipv4 / udp
     10.0.0.1:4096 <> 10.0.0.2:53 udp
     bucket 45002, hash afcad59327c5f77b; asked (message 0); depths [0 0 0 0] -> worker 0
#2 0.000001000 s, 108 bytes: ethernet / vlan 7 / ipv4 / udp
     10.0.0.5:5000 <> 10.0.0.6:4789 udp
     bucket 17594, hash 44ba0a64e5b2ee66; asked (message 1); depths [0 0 0 0] -> worker 1

packets      2, 150 bytes, in 0.000001000 s
decisions    2 asked, 0 followed their pin, 0 stuck, 0 held, 0 waited; 0 moves of buckets
flows        2 in 2 buckets (1.000 buckets a flow)
collisions   0 flows share 0 buckets
fallbacks    none
imbalance    2.00 (most packets of a worker by their mean)
entropy      1.00 of 8 bits (use of the groups of buckets); too few packets to judge polarisation

worker       packets    share     flows     dropped
0                  1   50.0 %         1           0
1                  1   50.0 %         1           0
2                  0    0.0 %         0           0
3                  0    0.0 %         0           0

largest flows
             1   50.0 %  bucket 17594  10.0.0.5:5000 <> 10.0.0.6:4789 udp
             1   50.0 %  bucket 45002  10.0.0.1:4096 <> 10.0.0.2:53 udp

No worker got far more than its share.
TEXT
why_ok none "$WORK/none.pcap"
why_says "The capture has no packets."

# From a pipe, and twice the same.
"$WEIR_BINARY" why - --service-ns 2500 --workers 3 <"$WORK/small.pcap" >"$WORK/pipe.out" ||
	fail "from a pipe"
cmp "$WORK/small.out" "$WORK/pipe.out" || fail "a pipe gives another text than a file"

# ---- causes ----
why_ok elephant "$WORK/elephant.pcap" --service-ns 100000 --summary
why_says "all are of one large flow, 10.0.0.1:4096 <> 10.0.0.2:53 udp."
why_ok even "$WORK/elephant.pcap" --summary
why_says "No worker got far more than its share."
why_ok fragments "$WORK/fragments.pcap" --strategy rendezvous --summary
why_says "1000 are without ports that would tell their flows apart (reason fragment)."
why_says "polarised: yes"
why_ok strategy "$WORK/elephant.pcap" --strategy last --summary
why_says "Worker 3 got 300 packets (100.0 %), 4.0 times its share: all are chosen by strategy last."

# ---- overflow: lanes of two, workers that are never done in time ----
why_ok drop "$WORK/elephant.pcap" --lane-size 2 --service-ns 1000000
why_says "dropped: overflow_drop_new"
why_ok reject "$WORK/elephant.pcap" --lane-size 2 --service-ns 1000000 --overflow reject
why_says "full: waited"
assert_equal "drops under reject" "" "$(grep dropped: "$WORK/reject.out")"
why_ok evict "$WORK/elephant.pcap" --lane-size 2 --service-ns 1000000 --overflow drop-head
why_says "full: took the oldest one's place"
why_says "overflow_drop_head"
assert_equal "arrivals dropped under drop-head" "" "$(grep dropped: "$WORK/evict.out")"

# ---- what cannot be read ----
why_fails 2 "Ethernet packets: the link type is LINUX_SLL (113)" cooked "$WORK/cooked.pcap"
why_fails 2 "No such file" absent "$WORK/absent.pcap"
why_fails 2 "CAPTURE" folder "$WORK"
why_fails 2 "unknown file format" odd "$0"
why_fails 2 "CAPTURE" empty /dev/null
why_fails 1 "cannot be read on" cut "$WORK/cut.pcap"
assert_equal "packets before the cut" 1 "$(grep -c '^#' "$WORK/cut.out")"
why_says "packets      1, 42 bytes"
why_fails 2 "--rx-cores: an option of weir, not of weir why" rx_cores "$WORK/small.pcap" --rx-cores 2
"$WEIR_BINARY" why "$WORK/small.pcap" >/dev/full 2>"$WORK/full.err"
assert_equal "a full disk: exit status" 1 $?

# ---- no privileges ----
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 711 "$WORK"
	setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs \
		"$WEIR_BINARY" why - --service-ns 2500 --workers 3 <"$WORK/small.pcap" \
		>"$WORK/nobody.out" 2>"$WORK/nobody.err" || fail "as nobody: $(cat "$WORK/nobody.err")"
	cmp "$WORK/small.out" "$WORK/nobody.out" || fail "nobody gets another text than root"
fi
echo "texts, causes, refusals"
