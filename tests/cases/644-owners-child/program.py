# SPDX-License-Identifier: MIT
"""Holds device memory to its end, and says then what a snapshot left behind: children, signals, descriptors."""

import atexit
import os
import signal

from simgpu import KIB, Buffer

signals = []
signal.signal(signal.SIGCHLD, lambda *_: signals.append(1))


def descriptors():
    return sorted(os.listdir("/proc/self/fd"))


@atexit.register  # before the tracer's own callback is, so called after it
def at_end():
    try:
        children = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        children = "none"
    print(children, len(signals), len(set(descriptors()) - set(before)))


history = [Buffer(64 * KIB) for _ in range(3)]
before = descriptors()
