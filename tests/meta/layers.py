# SPDX-License-Identifier: BSD-3-Clause
"""The folders of the project: which files are there, and which may include which."""
import pathlib
import re

# Folders of lib/ from the ground up; one may include private headers of its own and of lower ranks.
LIB_RANKS = [["base"], ["flow", "lane", "plugin", "stats"], ["strategy", "overflow", "pool", "rule"], ["decide"]]
RANK = {folder: rank for rank, folders in enumerate(LIB_RANKS) for folder in folders}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)


def sources_find(root):
    """All C files of the project, as paths relative to `root`."""
    root = pathlib.Path(root)
    return sorted(
        path.relative_to(root).as_posix()
        for top in ("lib", "dataplane", "tools", "tests")
        for path in (root / top).rglob("*.[ch]")
    )


def includes_read(text):
    """(is_quoted, name) of every #include."""
    return [(kind == '"', name) for kind, name in INCLUDE.findall(text)]


def lib_folder(path):
    """`lane` for lib/lane/lane.h; None for public headers and for files outside of lib/."""
    parts = path.split("/")
    return parts[1] if parts[0] == "lib" and len(parts) >= 3 and parts[1] in RANK else None
