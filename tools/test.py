# SPDX-License-Identifier: BSD-3-Clause
"""What tools/test reads of meson: which tests there are, and how they ended. Runs nothing.

test.py choose SUITES WANTED             reads `meson introspect --tests` and prints the tests in
                                         SUITES (!SUITE: not in it) that match a word of WANTED, if
                                         there is one, by name or suite
test.py results CONFIGURATION LOG TEST.. reads the log of a run and prints what failed, with its
                                         output, and what was skipped, with its reason; the last line
                                         is PASSED FAILED SKIPPED
"""

import fnmatch
import json
import os
import re
import sys

OUTPUT_LINES_MAX = 60
# What a test may be skipped for: as root, what neither tools/setup nor the test itself can provide.
GOOD_REASON = "(the|no) captures folder|the kernel lacks|.* not permitted$"
if os.getuid() != 0:
    GOOD_REASON += "|.* needs root$"


def choose(suites, wanted):
    suites, wanted = suites.split(), wanted.split()
    without = {name[1:] for name in suites if name[0] == "!"}
    within = {name for name in suites if name[0] != "!"}
    for test in json.load(sys.stdin):
        of = {suite.split(":")[-1] for suite in test["suite"]}
        if of & without or (within and not of & within):
            continue
        if not wanted or of & set(wanted) or any(fnmatch.fnmatch(test["name"], w) for w in wanted):
            print(test["name"])


def cases_of(output, word):
    """Cases of a cmocka program that ended so; it names some of them twice."""
    return list(dict.fromkeys(re.findall(rf"^\[ +{word} +\] (\w+)$", output, re.M)))


class Results:
    """Counts and prints. The cases of a cmocka program count one by one."""

    def __init__(self, configuration):
        self.configuration = configuration
        self.seen = set()
        self.passed = self.failed = self.skipped = 0

    def fail(self, name, why, output=""):
        self.failed += 1
        print(f"FAILED: {self.configuration}: {name}: {why}")
        for line in output.splitlines()[-OUTPUT_LINES_MAX:]:
            print("    " + line)

    def skip(self, name, output):
        reason = re.search(r"^skipped: *(.+)", output, re.I | re.M)
        if not reason or not re.match(GOOD_REASON, reason[1]):
            self.fail(name, "skipped without a good reason", output)
            return
        self.skipped += 1
        print(f"SKIPPED: {self.configuration}: {name}: {reason[1]}")

    def add(self, test):
        name = test["name"].split(" / ")[-1].split(":")[-1]
        output = test.get("stdout", "") + test.get("stderr", "")
        n_ok, skips = len(cases_of(output, "OK")), cases_of(output, "SKIPPED")
        self.seen.add(name)
        if test["result"] == "SKIP":
            self.skip(name, output)
        elif test["result"] in ("OK", "EXPECTEDFAIL"):
            self.passed += n_ok if n_ok or skips else 1
            for case in skips:
                self.skip(f"{name}: {case}", output)
        else:
            self.passed += n_ok
            self.failed += max(len(cases_of(output, "FAILED")) - 1, 0)
            self.fail(name, f"{test['result']}, exit status {test.get('returncode')}", output)


def results(configuration, log, *expected):
    sums = Results(configuration)
    try:
        with open(log, encoding="utf-8") as lines:
            for line in lines:
                sums.add(json.loads(line))
    except (OSError, ValueError) as error:
        print(f"{log}: {error}")
    for name in expected:
        if name not in sums.seen:
            sums.fail(name, "did not run")
    print(sums.passed, sums.failed, sums.skipped)


{"choose": choose, "results": results}[sys.argv[1]](*sys.argv[2:])
