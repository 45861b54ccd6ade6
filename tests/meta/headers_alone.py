#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every header of lib/ and dataplane/ compiles alone, twice over, without a warning, with gcc and
with clang. Public ones see lib/include and nothing else; private ones what the C files beside them
see, as the build's compile_commands.json has it.

usage: headers_alone.py SOURCE_ROOT BUILD_ROOT
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wundef", "-Wmissing-prototypes",
            "-Wstrict-prototypes", "-Werror"]
# Options of a compile command that decide what a header means; followed by a word of their own.
WITH_WORD = ("-include", "-isystem", "-I")
KEPT = ("-I", "-isystem", "-D", "-U", "-m", "-std=", "-f")


def flags_keep(command):
    """What a compile command says of include folders, macros, dialect and machine."""
    words = shlex.split(command)[1:]
    kept = []
    while words:
        word = words.pop(0)
        if word in WITH_WORD:
            kept += [word, words.pop(0)]
        elif word.startswith(KEPT) and not word.startswith("-fsanitize"):
            kept.append(word)
    return kept


def folder_flags(root, build):
    """Folder of the project -> (flags, where they hold) of a C file in it."""
    flags = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(os.path.join(entry["directory"], entry["file"])).resolve()
        if path.is_relative_to(root):
            folder = path.parent.relative_to(root).as_posix()
            flags.setdefault(folder, (flags_keep(entry["command"]), entry["directory"]))
    return flags


def compile_alone(compiler, header, flags, directory):
    """Why `header` does not compile; empty if it does."""
    # Twice, for its guard.
    text = f'#include "{header}"\n' * 2
    done = subprocess.run([compiler, *WARNINGS, *flags, "-x", "c", "-fsyntax-only", "-"],
                          input=text, capture_output=True, text=True, cwd=directory, check=False)
    return done.stderr if done.returncode else ""


def jobs_make(root, build):
    """(header, flags, directory) of every header; and the headers that no C file lies beside."""
    by_folder = folder_flags(root, build)
    jobs, lost = [], []
    for header in sorted([*(root / "lib").rglob("*.h"), *(root / "dataplane").rglob("*.h")]):
        folder = header.parent.relative_to(root).as_posix()
        if folder == "lib/include/weir":
            # An embedder may be no friend of GNU extensions.
            jobs += [(header, ["-std=c11", f"-I{root}/lib/include"], "/"),
                     (header, ["-std=gnu11", f"-I{root}/lib/include"], "/")]
        elif folder in by_folder:
            jobs.append((header, *by_folder[folder]))
        elif folder.startswith("lib/") or by_folder.get("dataplane"):
            lost.append(header)
    return jobs, lost


def self_check(compiler):
    """A header that needs another one, one without a guard, one that warns: none may pass."""
    for text in ("static inline uint8_t f(void) { return 0; }\n", "struct twice { int x; };\n",
                 "static inline int g(int x) { int y; (void)x; return 0; }\n"):
        with tempfile.NamedTemporaryFile("w", suffix=".h") as bad:
            bad.write(text)
            bad.flush()
            if not compile_alone(compiler, bad.name, [], "/"):
                sys.exit(f"FAILED: {compiler} takes this for a good header: {text}")


def main():
    root, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    compilers = [compiler for compiler in ("gcc", "clang") if shutil.which(compiler)]
    jobs, lost = jobs_make(root, build)
    failed = [f"{header}: no C file in its folder, so no include list" for header in lost]
    for compiler in compilers:
        self_check(compiler)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        work = [(c, *job) for c in compilers for job in jobs]
        for (compiler, header, *_), why in zip(work, pool.map(lambda j: compile_alone(*j), work)):
            if why:
                failed.append(f"{compiler}: {header}\n{why}")
    for line in failed:
        print("FAILED:", line)
    print(f"{len({job[0] for job in jobs})} headers, alone, with {' and '.join(compilers)}: "
          f"{len(failed)} failed")
    return 1 if failed or not jobs or not compilers else 0


sys.exit(main())
