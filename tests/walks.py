# SPDX-License-Identifier: MIT
"""A library that unwinds each native stack both by rules and with libunwind, and ends the program if they differ
(tests/unwind_check.h); for the cases 412 and 413."""

import os
import pathlib

import lib

COUNTS = pathlib.Path("walks").resolve()


def build():
    """Builds it in the folder "checked", beside links to everything else in $BUILD. Returns the folder and an
    environment in
    which programs count the comparisons."""
    checked = pathlib.Path("checked").resolve()
    lib.run(["make", "-s", "-C", lib.SRC, f"BUILD={checked}", f"CPPFLAGS=-DVT_CHECK_WALKS -I{lib.SRC}/tests", "lib"])
    for name in os.listdir(lib.BUILD):
        if not name.startswith(".") and name not in ("libvramtrace.so", "obj"):
            (checked / name).symlink_to(f"{lib.BUILD}/{name}")
    # It must detect a difference: one wrong frame ends the program.
    lib.check(b"unwound" in (checked / "libvramtrace.so").read_bytes(), "the library was built without the check")
    env = {name: value for name, value in os.environ.items() if not name.startswith("VRAMTRACE_")}
    return checked, dict(env, VT_CHECKED_WALKS=str(COUNTS))


def counted():
    """Over all processes: the numbers of stacks compared, of stacks with code without a table, which libunwind must
    not unwind,
    and of stacks that only libunwind unwound."""
    rows = [line.split() for line in COUNTS.read_text(encoding="utf-8").splitlines()]
    return [sum(int(row[column]) for row in rows) for column in range(3)]
