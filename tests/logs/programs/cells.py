# SPDX-License-Identifier: MIT
"""A notebook's cells, whose lines are in no file; killed right after."""

import linecache
import os
import signal

from simgpu import Buffer


def run(name, source):
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    exec(compile(source, name, "exec"), globals())


history = []
run("/tmp/ipykernel_7/101.py", "def step(n):\n    history.append(Buffer(n))  # größer\n")
run("/tmp/ipykernel_7/102.py", "for i in range(3):\n    step(65536)\n")
os.kill(os.getpid(), signal.SIGKILL)
