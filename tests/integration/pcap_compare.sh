#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The judge is judged: pcap_compare must tell every kind of difference that other tests rely on.
. "$(dirname "$0")/common.sh"

# capture FILE TEXT...: a capture with one packet per word TEXT, at times 1 s, 2 s, ...;
# TEXT@SECONDS sets the time.
capture() {
	"$PYTHON" - "$@" <<'PYTHON'
import struct, sys
with open(sys.argv[1], "wb") as out:
    out.write(struct.pack("=IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    for i, word in enumerate(sys.argv[2:]):
        text, _, time = word.partition("@")
        out.write(struct.pack("=IIII", int(time or i + 1), 0, len(text), len(text)) + text.encode())
PYTHON
}

expect() { # STATUS LINE ARGUMENT...
	local status=$1 line=$2 got

	shift 2
	got=$("$PCAP_COMPARE" "$@" 2>"$WORK/compare.err")
	assert_equal "pcap_compare $*: exit status" "$status" $?
	assert_equal "pcap_compare $*" "$line" "$got"
}

cd "$WORK" || exit 1
capture input.pcap aa bb cc bb
capture odd.pcap aa cc
capture even.pcap bb bb
capture empty.pcap
capture lost.pcap bb
capture changed.pcap bb bX
capture longer.pcap bb bbb
capture late.pcap bb@2 bb@5
capture backwards.pcap cc aa

expect 0 "input 4 packets, found 4, missing 0, extra 0" input.pcap odd.pcap even.pcap empty.pcap
expect 0 "input 0 packets, found 0, missing 0, extra 0" empty.pcap empty.pcap
expect 1 "input 4 packets, found 3, missing 1, extra 0" input.pcap odd.pcap lost.pcap
expect 1 "input 4 packets, found 3, missing 1, extra 1" input.pcap odd.pcap changed.pcap
expect 1 "input 4 packets, found 3, missing 1, extra 1" input.pcap odd.pcap longer.pcap
expect 1 "input 4 packets, found 4, missing 0, extra 2" input.pcap odd.pcap even.pcap even.pcap
expect 1 "input 0 packets, found 0, missing 0, extra 2" empty.pcap odd.pcap
expect 1 "input 4 packets, found 0, missing 4, extra 0" input.pcap empty.pcap
expect 0 "input 4 packets, found 4, missing 0, extra 0" input.pcap backwards.pcap even.pcap
expect 1 "input 4 packets, found 4, missing 0, extra 0, out of order" \
	--ordered-merge input.pcap backwards.pcap even.pcap
expect 0 "input 4 packets, found 4, missing 0, extra 0" --ordered-merge input.pcap odd.pcap even.pcap
expect 0 "input 4 packets, found 8, missing 0, extra 0" --times 2 input.pcap input.pcap input.pcap
expect 1 "input 4 packets, found 4, missing 4, extra 0" --times 2 input.pcap input.pcap
expect 0 "input 4 packets, found 4, missing 0, extra 0" --timestamps input.pcap input.pcap
expect 1 "input 4 packets, found 2, missing 2, extra 2" --timestamps input.pcap odd.pcap late.pcap

head -c 50 input.pcap >cut.pcap
expect 2 "" input.pcap cut.pcap
expect 2 "" cut.pcap input.pcap
expect 2 "" input.pcap absent.pcap
expect 2 "" input.pcap /dev/null
expect 2 "" input.pcap
expect 2 "" --times x input.pcap input.pcap
