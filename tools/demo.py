# SPDX-License-Identifier: BSD-3-Clause
"""What tools/demo does with captures and with the report. Knows files, runs nothing.

demo.py prepare CAPTURE OUTPUT PACKETS  writes PACKETS packets of CAPTURE (pcap or pcapng, Ethernet),
                                        over again if it has fewer; prints how many it wrote
demo.py explain REPORT OUTPUT WAIT_US   says in words what the report says, and counts the packets
                                        of OUTPUT for itself; exit status 0 if the ledger balances
"""

import itertools
import json
import struct
import sys
import textwrap

ETHERNET = 1
PACKET_BYTES_MAX = 262144  # as libpcap has it
OUTPUT_BYTES_MAX = 250 << 20
PCAP_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, PACKET_BYTES_MAX, ETHERNET)
PCAP_MAGICS = {0xA1B2C3D4: 1, 0xA1B23C4D: 1000}  # and the divisor that makes microseconds
PCAPNG_SECTION = 0x0A0D0D0A
PCAPNG_BYTE_ORDER = 0x1A2B3C4D
SLOW_WORKER = 3
SLOW_FACTOR = 3


class Refused(Exception):
    """The capture is of no use: a line for the user."""


def require_ethernet(link_type):
    if link_type != ETHERNET:
        raise Refused(f"link type {link_type}: allowed is Ethernet (1)")


def read_pcap(file, order, divisor):
    """Yields (seconds, microseconds, original length, data) up to the end or the first bad record."""
    header = file.read(20)
    if len(header) < 20:
        raise Refused("ends within its header")
    require_ethernet(struct.unpack(order + "16xI", header)[0] & 0xFFFF)
    while len(header := file.read(16)) == 16:
        seconds, fraction, captured, length = struct.unpack(order + "IIII", header)
        data = file.read(min(captured, PACKET_BYTES_MAX))
        if len(data) < captured:
            return
        yield seconds, fraction // divisor, length, data


def pcapng_packet(order, kind, body):
    """What an enhanced or a simple packet block holds, as read_pcap yields it."""
    if kind == 6:
        high, low, captured, length = struct.unpack_from(order + "4xIIII", body)
        seconds, micro = divmod(high << 32 | low, 1000000)
        return seconds & 0xFFFFFFFF, micro, length, body[20 : 20 + captured]
    (length,) = struct.unpack_from(order + "I", body)
    return 0, 0, length, body[4 : 4 + length]


def read_pcapng(file, magic):
    """Yields as read_pcap. Times are right where they count microseconds, as nearly all do."""
    order = "<"
    header = magic + file.read(4)
    while len(header) == 8:
        body = b""
        if header[:4] == struct.pack("<I", PCAPNG_SECTION):
            body = file.read(4)
            order = "<" if body == struct.pack("<I", PCAPNG_BYTE_ORDER) else ">"
        kind, total = struct.unpack(order + "II", header)
        if not 12 <= total <= 2 * PACKET_BYTES_MAX or total % 4:
            return
        body += file.read(total - 12 - len(body))
        if len(file.read(4)) < 4:
            return
        if kind == 1 and len(body) >= 8:
            require_ethernet(struct.unpack_from(order + "H", body)[0])
        elif (kind == 6 and len(body) >= 20) or (kind == 3 and len(body) >= 4):
            yield pcapng_packet(order, kind, body)
        header = file.read(8)


def read_capture(file):
    magic = file.read(4)
    if len(magic) < 4:
        raise Refused("no capture: shorter than any header")
    for order in "<>":
        number = struct.unpack(order + "I", magic)[0]
        if number in PCAP_MAGICS:
            return read_pcap(file, order, PCAP_MAGICS[number])
    if number == PCAPNG_SECTION:  # the same in both orders
        return read_pcapng(file, magic)
    raise Refused("neither a pcap nor a pcapng file")


def prepare(path, output, n_wanted):
    with open(path, "rb") as file:
        records = []
        n_bytes = 0
        for seconds, micro, length, data in itertools.islice(read_capture(file), n_wanted):
            if n_bytes + 16 + len(data) > OUTPUT_BYTES_MAX:
                break
            records.append(struct.pack("<IIII", seconds, micro, len(data), length) + data)
            n_bytes += len(records[-1])
    if not records:
        raise Refused("holds no packet that can be read")
    n_passes = min(n_wanted // len(records), OUTPUT_BYTES_MAX // n_bytes)
    with open(output, "wb") as file:
        file.write(PCAP_HEADER)
        for _ in range(n_passes):
            file.write(b"".join(records))
    print(len(records), n_passes)


def count_packets(path):
    with open(path, "rb") as file:
        return sum(1 for _ in read_capture(file))


def ledger_balances(report):
    end = sum(report["dropped"].values()) + report["held"] + report["in_lanes"]
    return report["received"] + report["copies"] == report["completed"] + end


def say(sentence):
    print(textwrap.fill(sentence, 98, initial_indent="  ", subsequent_indent="  "))


def explain_workers(report, wait_us):
    received = max(1, report["received"])
    shares = [100 * worker["received"] / received for worker in report["workers"]]
    listed = ", ".join(f"worker {i} {share:.1f} %" for i, share in enumerate(shares))
    say(f"Four workers shared them: {listed}.")
    say(
        f"Worker {SLOW_WORKER} is slow on purpose: it takes {SLOW_FACTOR * wait_us} us for a packet on"
        f" average, the others {wait_us} us. In proportion to that it would get 10.0 %; taking turns"
        " would give it 25.0 %."
    )


def explain_losses(report, n_out):
    dropped = sum(report["dropped"].values())
    say(
        f"The input is faster than the workers: {report['rejected']:,} times packets had to wait until"
        " the lane of the worker that they, or their flows, were meant for had room."
        f" {dropped:,} packets were dropped."
    )
    say(
        f"{report['tx']['sent']:,} packets were sent. The file that they were sent to holds {n_out:,},"
        " as counted by this script."
    )


def explain_order(report):
    if report["order"] == "none":
        say("No order was kept: packets of one flow may have overtaken each other.")
        return
    say(
        f"Flows moved to another worker {report['moves']:,} times, each only when nothing of it was"
        " on its way: packets of a flow stay in order."
    )


def explain(report_path, output, wait_us):
    with open(report_path, encoding="utf-8") as file:
        report = json.load(file)
    n_out = count_packets(output)
    balanced = ledger_balances(report) and report["ledger_ok"]
    print("What happened")
    say(
        f"{report['received']:,} packets came in by one port in {report['duration_s']:.1f} seconds:"
        f" {report['received'] / report['duration_s']:,.0f} a second."
    )
    explain_workers(report, wait_us)
    explain_losses(report, n_out)
    explain_order(report)
    say(
        f"Ledger: {report['received']:,} received + {report['copies']:,} copies"
        f" {'=' if balanced else 'IS NOT'} {report['completed']:,} completed"
        f" + {sum(report['dropped'].values()):,} dropped + {report['held']:,} held"
        f" + {report['in_lanes']:,} in lanes. It {'balances' if balanced else 'DOES NOT BALANCE'}."
    )
    return 0 if balanced and n_out == report["tx"]["sent"] else 3


def main(command, *arguments):
    """Returns the exit status: 2 for a capture that is of no use, as weir has it for options."""
    if command == "explain":
        report, output, wait_us = arguments
        return explain(report, output, int(wait_us))
    path, output, n_wanted = arguments
    try:
        prepare(path, output, int(n_wanted))
    except Refused as refusal:
        print(f"tools/demo: {path}: {refusal}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"tools/demo: {error.filename or output}: {error.strerror}", file=sys.stderr)
        return 2 if error.filename == path else 1
    return 0


sys.exit(main(*sys.argv[1:]))
