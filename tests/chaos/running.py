# SPDX-License-Identifier: BSD-3-Clause
"""A running Weir under test: traffic for it, its control socket, its report, and what became of the
packets. Knows no schedule."""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]

EAL_FOLDER = pathlib.Path("/var/run/dpdk" if os.geteuid() == 0 else
                          os.environ.get("XDG_RUNTIME_DIR", "/tmp") + "/dpdk")

# Every packet of such traffic has room for a stamp, and its flow is one for Weir too.
TRAFFIC = ["--mix", "udp=70,dns=30", "--min-size", "90", "--max-size", "128"]

PROGRAMS = {
    "WEIR_BINARY": "dataplane/weir",
    "WEIR_TRAFFIC": "tools/traffic/weir-traffic",
    "STAMP_COMPARE": "tests/integration/stamp_compare",
}


class Failed(Exception):
    """What the test has found."""


def built(name):
    """The path of something in a build folder beside the sources."""
    for build in ("build-gcc", "build"):
        path = ROOT / build / name
        if path.exists():
            return str(path)
    raise SystemExit(f"no {name} in build-gcc or build: run tools/test gcc first")


def program(name):
    """As meson says, or as it lies there."""
    return os.environ.get(name) or built(PROGRAMS[name])


def traffic_make(path, packets, flows, seed):
    subprocess.run([program("WEIR_TRAFFIC"), "--packets", str(packets), "--flows", str(flows),
                    "--seed", str(seed), *TRAFFIC, str(path)],
                   check=True, stdout=subprocess.DEVNULL)


def traffic_compare(given, n, got):
    """What has become of the first n packets, by stamp_compare: {word: count}."""
    done = subprocess.run([program("STAMP_COMPARE"), str(given), str(n), str(got)],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"stamp_compare: {done.stderr}")
    words = done.stdout.split()
    return dict(zip(words[::2], map(int, words[1::2]))), done.stderr


class Weir:
    """One run. Its files are NAME.* in `folder`."""

    def __init__(self, folder, name, arguments):
        self.base = pathlib.Path(folder) / name
        self.socket_path = f"{self.base}.sock"
        self.out = open(f"{self.base}.out", "w")
        prefix = f"weir-chaos-{os.getpid()}-{name}"
        self.eal_folder = EAL_FOLDER / prefix
        command = [program("WEIR_BINARY"), "--no-huge", "-m", "256", "--no-pci",
                   f"--file-prefix={prefix}",
                   "--vdev", f"net_pcap0,rx_pcap={self.base}.in.pcap,tx_pcap={self.base}.out.pcap",
                   "--", "--control-socket", self.socket_path,
                   "--attach-socket", f"{self.base}.attach",
                   "--stats-period", "0", "--report", f"{self.base}.json", *arguments]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.out,
                                        stderr=subprocess.STDOUT)

    def said(self):
        return pathlib.Path(f"{self.base}.out").read_text(errors="replace")

    def ask(self, request):
        """Returns the reply's lines; raises Failed with the reason of a refusal."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
            client.settimeout(30)
            client.connect(self.socket_path)
            client.send(request.encode())
            reply = b""
            while part := client.recv(65536):
                reply += part
        head, _, body = reply.decode().partition("\n")
        if head != "ok":
            raise Failed(f"{request}: {head}")
        return body

    def status(self):
        return json.loads(self.ask("status"))

    def rx_core_waited_ns(self):
        """For how long the thread of its only rx core could have run and did not, so far."""
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            if (task / "comm").read_text().startswith("rte-worker"):
                return int((task / "schedstat").read_text().split()[1])
        raise Failed("weir has no rx core")

    def is_up(self):
        if self.process.poll() is not None:
            raise Failed(f"weir ended while it was starting: {self.said()}")
        try:
            return all(w["state"] != "starting" for w in self.status()["workers"])
        except OSError:
            return False

    def wait_up(self, seconds=60):
        deadline = time.monotonic() + seconds
        while not self.is_up():
            if time.monotonic() > deadline:
                raise Failed(f"weir does not answer: {self.said()}")
            time.sleep(0.05)

    def wait(self, seconds=60):
        """Waits for the end. Returns the exit status."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f"weir has not ended within {seconds} s") from None

    def report(self):
        with open(f"{self.base}.json") as report:
            return json.load(report)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.out.close()
        shutil.rmtree(self.eal_folder, ignore_errors=True)


def judge(weir, exit_status, allowed):
    """Raises Failed unless each packet that was received is found in the output, once, unchanged
    and in its flow's order, or is counted in the report for one of the reasons `allowed`, and no
    mbuf is lost. Returns the report and what stamp_compare says."""
    report = weir.report()
    dropped = {reason: n for reason, n in report["dropped"].items() if n > 0}
    found, shown = traffic_compare(f"{weir.base}.in.pcap", report["received"],
                                   f"{weir.base}.out.pcap")
    mbufs = report["mbufs"]
    conditions = {
        "exit status 0": exit_status == 0,
        "the ledger balances": report["ledger_ok"] is True,
        "nothing is left": report["held"] == 0 and report["in_lanes"] == 0,
        "by its own numbers, too": report["received"] == report["completed"] + sum(dropped.values()),
        "nothing was missed": report["missed"] == 0 and report["copies"] == 0,
        "only allowed losses": set(dropped) <= set(allowed),
        "all that is missing was counted": found["missing"] == sum(dropped.values()),
        "all that was sent is there": found["found"] == report["tx"]["sent"] == report["completed"],
        "no packet came twice": found["duplicates"] == 0,
        "no strangers": found["strangers"] == 0,
        "no byte was changed": found["changed"] == 0,
        "no packet overtook one of its flow": found["inversions"] == 0,
        "no mbuf is lost": mbufs["free"] == mbufs["free_at_start"],
        "no worker is stuck": report["stuck_workers"] == 0,
    }
    untrue = [what for what, holds in conditions.items() if not holds]
    if untrue:
        raise Failed(f"not true: {'; '.join(untrue)}\nexit status {exit_status}, dropped {dropped}, "
                     f"output {found}, received {report['received']}, completed "
                     f"{report['completed']}, held {report['held']}, in lanes {report['in_lanes']}, "
                     f"ledger gap {report['ledger_gap']}, mbufs {mbufs}\n{shown}")
    return report, found


def test_run(test, keep=False):
    """Calls test(folder) with a folder of its own. Returns the exit status of a test."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-chaos-"))
    os.chmod(folder, 0o755)  # worker processes run as nobody
    try:
        test(folder)
    except Failed as failed:
        print(f"FAILED: {failed}")
        return 1
    finally:
        if keep:
            print(f"files: {folder}")
        else:
            shutil.rmtree(folder)
    return 0
