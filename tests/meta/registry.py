#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every strategy is one file, one row in the registry and one test: lib/strategy/NAME.c defines
strategy_NAME, which is in the registry under the name that users type, and tests/unit/test_NAME.c
exists and is built. The same of lib/overflow, but that policies share one test.

usage: registry.py SOURCE_ROOT BUILD_ROOT
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile


class Kind:
    """What makes a registered thing of one kind."""

    def __init__(self, folder, struct, prefix):
        self.folder = folder
        self.defined = re.compile(
            rf"^const struct {struct} {prefix}(\w+) = \{{\n(.*?)^\}};", re.M | re.S)
        self.declared = re.compile(rf"^extern const struct {struct} {prefix}(\w+);", re.M)
        self.row = re.compile(rf"^\t&{prefix}(\w+),", re.M)


KINDS = [Kind("lib/strategy", "weir_strategy", "strategy_"),
         Kind("lib/overflow", "weir_overflow_policy", "overflow_")]


def check_kind(root, kind):
    """Names defined in `kind.folder`, and what is wrong with them."""
    folder = root / kind.folder
    defined, wrong = [], []
    for path in sorted(folder.glob("*.c")):
        for name, body in kind.defined.findall(path.read_text()):
            defined.append(name)
            typed = re.search(r'\.name = "([^"]+)"', body)
            if path.stem != name:
                wrong.append(f"{name} is defined in {path.name}, not in {name}.c")
            if not typed or typed[1] != name.replace("_", "-"):
                wrong.append(f"{name} is typed {typed and typed[1]}, not {name.replace('_', '-')}")
    rows = kind.row.findall((folder / "registry.c").read_text())
    declared = kind.declared.findall((folder / "registry.h").read_text())
    for name in sorted(set(defined) | set(rows) | set(declared)):
        counts = [names.count(name) for names in (defined, declared, rows)]
        if counts != [1, 1, 1]:
            wrong.append(f"{name}: {counts[0]} times defined, {counts[1]} times declared, "
                         f"{counts[2]} rows in the registry of {kind.folder}")
    if not defined:
        wrong.append(f"nothing is defined in {kind.folder}")
    return defined, wrong


def check_tests(root, strategies, built):
    """What is wrong with the strategies' tests; `built` are the tests that the build runs."""
    wrong = []
    for name in strategies:
        if not (root / "tests/unit" / f"test_{name}.c").is_file():
            wrong.append(f"strategy {name} has no tests/unit/test_{name}.c")
        if name not in built:
            wrong.append(f"no test called {name} is run")
    return wrong


def violations(root, built):
    strategies, wrong = check_kind(root, KINDS[0])
    return wrong + check_kind(root, KINDS[1])[1] + check_tests(root, strategies, built)


def tree_write(root, files):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def strategy_text(name, typed):
    return f'const struct weir_strategy strategy_{name} = {{\n\t.name = "{typed}",\n}};\n'


GOOD = {
    "lib/strategy/a_b.c": strategy_text("a_b", "a-b"),
    "lib/strategy/registry.c": "\t&strategy_a_b,\n",
    "lib/strategy/registry.h": "extern const struct weir_strategy strategy_a_b;\n",
    "lib/overflow/p.c": 'const struct weir_overflow_policy overflow_p = {\n\t.name = "p",\n};\n',
    "lib/overflow/registry.c": "\t&overflow_p, /* first */\n",
    "lib/overflow/registry.h": "extern const struct weir_overflow_policy overflow_p;\n",
    "tests/unit/test_a_b.c": "",
}
# Each of these, put over the good files, breaks one rule.
BAD = [
    {"lib/strategy/new.c": strategy_text("new", "new")},
    {"lib/strategy/a_b.c": strategy_text("a_b", "a_b")},
    {"lib/strategy/a_b.c": "", "lib/strategy/c.c": strategy_text("a_b", "a-b")},
    {"lib/strategy/registry.c": "\t&strategy_a_b,\n\t&strategy_a_b,\n"},
    {"lib/strategy/registry.h": ""},
    {"lib/overflow/registry.c": ""},
]


def self_check():
    """A check that cannot say no proves nothing."""
    for bad in [{}, *BAD]:
        with tempfile.TemporaryDirectory() as scratch:
            root = pathlib.Path(scratch)
            tree_write(root, {**GOOD, **bad})
            wrong = violations(root, {"a_b"})
            if bool(bad) != bool(wrong):
                sys.exit(f"FAILED: of {bad or 'good files'} the check says: {wrong}")
            if not bad and (not violations(root, set())
                            or not check_tests(root, ["untested"], {"untested"})):
                sys.exit("FAILED: the check does not miss a test")


def main():
    self_check()
    root, build = sys.argv[1:3]
    introspected = subprocess.run(["meson", "introspect", "--tests", build], check=True,
                                  capture_output=True, text=True)
    built = {test["name"] for test in json.loads(introspected.stdout)}
    wrong = violations(pathlib.Path(root), built)
    for line in wrong:
        print("FAILED:", line)
    print(f"strategies and policies: {len(wrong)} things wrong")
    return 1 if wrong else 0


sys.exit(main())
