#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Includes go one way: base <- flow, lane, plugin, stats <- strategy, overflow, pool, rule <-
decide <- program, tools, tests. Public headers include public ones only; lib/ knows no DPDK; no file includes what is
in tests/ but tests; hot loops include no cold header, not even through another one.

usage: include_directions.py SOURCE_ROOT
"""
import pathlib
import sys

import layers

HOT_LOOPS = ("dataplane/rx_loop.c", "dataplane/harvest.c", "dataplane/worker_loop.c")
COLD_HEADERS = ("control.h", "options.h", "telemetry.h", "supervisor.h", "report.h", "status.h")


def headers_named(files, name):
    """The project's headers that `#include "name"` may mean: the path ends in it."""
    return [path for path in files if path == name or path.endswith("/" + name)]


def quoted_targets(files, path, name):
    """What `#include "name"` in `path` means: the file's own folder first, as for a compiler."""
    sibling = "/".join(path.split("/")[:-1] + [name])
    return [sibling] if sibling in files else headers_named(files, name)


def check_quoted(files, path, name):
    """Why `path` may not include "name"; None if it may."""
    if name.startswith("../") or "/../" in name:
        return "goes up a folder"
    targets = quoted_targets(files, path, name)
    folder = layers.lib_folder(path)
    if path.startswith("lib/include/"):
        return "is private"
    if folder:
        targets = [t for t in targets if layers.lib_folder(t)]
        if not targets:
            return "is no header of lib/"
        above = [t for t in targets if layers.lib_folder(t) != folder
                 and layers.RANK[layers.lib_folder(t)] >= layers.RANK[folder]]
        return f"is above or beside lib/{folder}" if above else None
    if not targets:
        return "is no header of the project"
    if not path.startswith("tests/") and all(t.startswith("tests/") for t in targets):
        return "belongs to the tests"
    return None


def check_system(files, path, name):
    """Why `path` may not include <name>; None if it may."""
    if name.startswith("weir/"):
        return None if "lib/include/" + name in files else "does not exist"
    if path.startswith("lib/") and name.startswith("rte_"):
        return "is DPDK's"
    if name in {known.split("/")[-1] for known in files}:
        return "is the project's: include it in quotes"
    return None


def cold_headers(files, path, seen=None):
    """The cold headers that `path` includes, at any depth."""
    seen = set() if seen is None else seen
    found = []
    for is_quoted, name in layers.includes_read(files[path]):
        for target in quoted_targets(files, path, name) if is_quoted else []:
            if target in seen or not target.startswith("dataplane/"):
                continue
            seen.add(target)
            if target.split("/")[-1] in COLD_HEADERS or "/option_" in target:
                found.append(target)
            found += cold_headers(files, target, seen)
    return found


def violations(files):
    """All that is wrong with `files`, a dict of path -> text: one line each."""
    wrong = []
    for path, text in files.items():
        for is_quoted, name in layers.includes_read(text):
            why = (check_quoted if is_quoted else check_system)(files, path, name)
            if why:
                wrong.append(f"{path} includes {name}, which {why}")
    for path in HOT_LOOPS:
        for target in cold_headers(files, path) if path in files else []:
            wrong.append(f"{path} includes {target}, which is cold")
    return wrong


# A check that cannot say no proves nothing: each of these files breaks one rule.
GOOD = {
    "lib/include/weir/a.h": "#include <stdint.h>\n",
    "lib/base/base.h": "",
    "lib/lane/lane.h": '#include <weir/a.h>\n#include "base.h"\n',
    "lib/flow/flow.h": "",
    "lib/pool/pool.h": '#include "lane.h"\n',
    "lib/decide/decide.c": '#include "pool.h"\n',
    "dataplane/control.h": "",
    "dataplane/rx_core.h": '#include "lane.h"\n#include <rte_mbuf.h>\n',
    "dataplane/rx_loop.c": '#include "rx_core.h"\n',
    "tests/support/rig.h": '#include "pool.h"\n',
}
BAD = {
    "lib/include/weir/b.h": '#include "base.h"\n',
    "lib/base/up.h": '#include "lane.h"\n',
    "lib/lane/beside.c": '#include "flow.h"\n',
    "lib/pool/dpdk.c": "#include <rte_ring.h>\n",
    "lib/pool/outside.c": '#include "control.h"\n',
    "lib/pool/dots.c": '#include "../lane/lane.h"\n',
    "lib/pool/unknown.c": "#include <weir/none.h>\n",
    "dataplane/worker_loop.c": '#include "middle.h"\n',
    "dataplane/middle.h": '#include "control.h"\n',
    "dataplane/tested.c": '#include "rig.h"\n',
    "lib/pool/angled.c": "#include <pool.h>\n",
}


def self_check():
    wrong = violations(GOOD)
    if wrong:
        sys.exit(f"FAILED: of good files the check says: {wrong}")
    wrong = violations({**GOOD, **BAD})
    missed = [path for path in BAD
              if path != "dataplane/middle.h" and not any(w.startswith(path) for w in wrong)]
    if missed:
        sys.exit(f"FAILED: the check misses what is wrong with: {missed}")


def main():
    self_check()
    root = pathlib.Path(sys.argv[1])
    files = {path: (root / path).read_text() for path in layers.sources_find(root)}
    wrong = violations(files)
    for line in wrong:
        print("FAILED:", line)
    print(f"{len(files)} files, {len(wrong)} includes against the direction")
    return 1 if wrong or not files else 0


sys.exit(main())
