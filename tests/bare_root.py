# SPDX-License-Identifier: MIT
"""Mounts missing in a bare chroot, for tests run there as root: terminals, and the memory limits of this process's
control group. Without the latter no snapshot is taken (VT_MISSED_UNSEEN)."""

import contextlib
import os
import subprocess
import sys


def _group():
    """The mount that shows this process's control group; None: it has none."""
    try:
        with open("/proc/self/cgroup", encoding="ascii") as file:
            groups = [line.rstrip("\n").split(":", 2)[1:] for line in file]
    except OSError:
        return None
    if any("memory" in controllers.split(",") and name != "/" for controllers, name in groups):
        return ["-t", "cgroup", "-o", "memory"]
    return ["-t", "cgroup2"] if any(not controllers and name != "/" for controllers, name in groups) else None


@contextlib.contextmanager
def furnished():
    """Inside the block, /dev/pts and /sys are mounted if possible; otherwise prints which cases will fail."""
    mounted = []
    for folder, how, cases in (("/dev/pts", ["-t", "devpts"], "terminals"), ("/sys", _group(), "snapshots")):
        if how and os.path.isdir(folder) and not os.listdir(folder):
            if subprocess.run(["mount", *how, "vramtrace", folder], check=False).returncode:
                print(f"tests/run: {folder} is empty, and nothing can be mounted there: cases of {cases} fail", file=sys.stderr)
            else:
                mounted.append(folder)
    try:
        yield
    finally:
        for folder in mounted:
            subprocess.run(["umount", "-l", folder], check=False)
