#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Flows of captured packets as an independent dissector (tshark) tells them, against Weir's.

Packets of a capture that tshark gives the same innermost addresses, protocol and ports must share a
bucket, and there must be as many hashes as flows. A capture that disagrees must be in EXCEPTIONS,
with the reason. Weir's flows and all packets in one capture come from the program FLOW_LIST.
Skips without tshark or without captures.
"""
import collections
import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77

# Where tshark looks further into a packet than Weir does, or not as far.
EXCEPTIONS = {
    "tcpdump/PIM_register_register-stop.pcap":
        "PIM registers hold a multicast packet: signalling, not a tunnel that is looked into",
    "tcpdump/isakmp4500.pcap":
        "ESP in UDP, port 4500: the ports stay the flow, in which IKE and ESP keep their order",
    "tcpdump/mpls-over-udp.pcap":
        "MPLS over UDP, port 6635: not a tunnel that is looked into",
    "tcpdump/various_gre.pcap":
        "Cisco metadata (0x8909) in GRE: a proprietary tag that is not looked through",
    "zeek/tunnels_gre-aruba.pcap":
        "IEEE 802.11 frames in GRE (Aruba): not looked through",
    "zeek/tunnels_gre-over-udp-4754.pcap":
        "GRE over UDP, port 4754: not a tunnel that is looked into",
    "zeek/tunnels_gtp_gtp_control_prime.pcap":
        "GTP version 0, port 3386: not a tunnel that is looked into",
    "zeek/tunnels_gtp_pdp_ctx_messages.pcapng":
        "GTP version 0, port 3386: not a tunnel that is looked into",
}

# All captures together: hashes for each hundred flows.
PERCENT_MIN = 95

TRANSPORTS = ["tcp", "udp", "sctp", "dccp"]
FIELDS = [
    "frame.protocols", "eth.src", "eth.dst",
    "ip.src", "ip.dst", "ip.proto", "ip.flags.mf", "ip.frag_offset",
    "ipv6.src", "ipv6.dst", "ipv6.nxt", "ipv6.fraghdr.offset", "ipv6.fraghdr.more",
    "icmp.ident", "icmpv6.echo.identifier", "esp.spi",
] + [f"{transport}.{port}" for transport in TRANSPORTS for port in ("srcport", "dstport")]


class Packet:
    """What tshark shows of one packet: for each field, the values from the outermost on."""

    def __init__(self, line):
        columns = line.split("\t")
        self.values = {name: iter(text.split(",") if text else [])
                       for name, text in zip(FIELDS, columns)}
        self.layers = columns[0].split(":")

    def next(self, name):
        """The value of the field in the next layer that has it, or None."""
        return next(self.values[name], None)


def is_fragment(more, offset):
    return more in ("1", "True") or offset not in (None, "0")


def flow_of(packet):
    """The innermost flow: fragments have no ports, and nothing is read behind them."""
    addresses, protocol, ports = (), "none", None
    for layer in packet.layers:
        if layer == "eth":
            macs = sorted([str(packet.next("eth.src")), str(packet.next("eth.dst"))])
            if protocol in ("none", "eth"):
                addresses, protocol, ports = macs, "eth", None
        elif layer in ("ip", "ipv6"):
            ends = packet.next(f"{layer}.src"), packet.next(f"{layer}.dst")
            number = packet.next("ip.proto" if layer == "ip" else "ipv6.nxt")
            if None in ends:
                break  # cut
            addresses, protocol, ports = ends, number, None
            if layer == "ip" and is_fragment(packet.next("ip.flags.mf"),
                                             packet.next("ip.frag_offset")):
                break
        elif layer == "ipv6.fraghdr" and is_fragment(packet.next("ipv6.fraghdr.more"),
                                                     packet.next("ipv6.fraghdr.offset")):
            protocol = "fragment"
            break
        elif layer in TRANSPORTS:
            ends = packet.next(f"{layer}.srcport"), packet.next(f"{layer}.dstport")
            if None not in ends:
                protocol, ports = layer, ends
        elif layer in ("icmp", "icmpv6", "esp"):
            field = {"icmp": "icmp.ident", "icmpv6": "icmpv6.echo.identifier", "esp": "esp.spi"}
            number = packet.next(field[layer])
            ports = (number, number) if number else ports
    ends = zip(addresses, ports) if ports else zip(addresses)
    return (protocol, *sorted(ends))


def dissect(capture):
    """Tshark's flow of each packet of the capture."""
    command = ["tshark", "-n", "-r", capture, "-o", "ip.defragment:FALSE",
               "-o", "ipv6.defragment:FALSE", "-T", "fields", "-E", "separator=/t",
               "-E", "occurrence=a", "-E", "aggregator=,"]
    for field in FIELDS:
        command += ["-e", field]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"FAILED: tshark: {result.stderr}")
    return [flow_of(Packet(line)) for line in result.stdout.splitlines()]


class Capture:
    """The flows of one capture as both sides tell them."""

    def __init__(self):
        self.buckets = collections.defaultdict(set)  # by tshark's flow
        self.hashes = set()

    def add(self, flow, flow_hash, bucket):
        self.buckets[flow].add(bucket)
        self.hashes.add(flow_hash)

    def disagreement(self):
        """What is wrong, or None."""
        split = sum(len(buckets) > 1 for buckets in self.buckets.values())
        if split:
            return f"{split} of tshark's {len(self.buckets)} flows have several buckets"
        if len(self.hashes) != len(self.buckets):
            return f"{len(self.hashes)} hashes for tshark's {len(self.buckets)} flows"
        return None


def captures_compare(folder):
    """Every capture below the folder, by name."""
    captures = collections.defaultdict(Capture)
    with tempfile.TemporaryDirectory() as work:
        merged = os.path.join(work, "merged.pcap")
        listing = subprocess.run([os.environ["FLOW_LIST"], folder, merged], text=True,
                                 stdout=subprocess.PIPE, check=True).stdout.splitlines()
        flows = dissect(merged)
    if len(flows) != len(listing):
        sys.exit(f"FAILED: tshark shows {len(flows)} packets of {len(listing)}")
    for flow, line in zip(flows, listing):
        name, _, flow_hash, bucket, _, _ = line.split("\t")
        captures[name].add(flow, flow_hash, bucket)
    print(f"{len(captures)} captures, {len(flows)} packets")
    return captures


def captures_folder():
    root = os.environ.get("WEIR_SOURCE_ROOT", ".")
    return os.environ.get("WEIR_CAPTURES", os.path.join(root, "..", "shared", "captures"))


def main():
    folder = captures_folder()
    if not os.path.isdir(folder):
        print(f"skipped: no captures folder at {folder} (WEIR_CAPTURES names another)")
        return SKIPPED
    if not shutil.which("tshark"):
        print("skipped: no tshark (Debian package tshark)")
        return SKIPPED
    captures = captures_compare(folder)
    failed = False
    for name, capture in sorted(captures.items()):
        wrong = capture.disagreement()
        if wrong and name in EXCEPTIONS:
            print(f"disagrees: {name}: {wrong}: {EXCEPTIONS[name]}")
        elif wrong:
            print(f"FAILED: {name}: {wrong}")
            failed = True
        elif name in EXCEPTIONS:
            print(f"FAILED: {name}: agrees, and is listed as an exception")
            failed = True
    n_flows = sum(len(capture.buckets) for capture in captures.values())
    n_hashes = sum(len(capture.hashes) for capture in captures.values())
    print(f"{n_hashes} hashes for {n_flows} flows")
    if n_hashes * 100 < n_flows * PERCENT_MIN:
        print(f"FAILED: fewer than {PERCENT_MIN} in a hundred")
        failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
