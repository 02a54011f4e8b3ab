# SPDX-License-Identifier: MIT
"""program.py [thread|cleared|exchange]: holds device memory to its end, among many other objects, and says then what a snapshot left behind:
children that can be waited for and others, signals, descriptors. With another thread, its memory does not stand still. Cleared: it
says nothing, because as its last statement it clears what is to be called at its end."""

import atexit
import ctypes
import os
import signal
import sys
import threading

from simgpu import KIB, Buffer

signals = []
signal.signal(signal.SIGCHLD, lambda *_: signals.append(1))
signal.signal(signal.SIGUSR1, lambda *_: None)


def descriptors():
    return sorted(os.listdir("/proc/self/fd"))


def children():
    """Of all processes, those whose parent is this one."""
    found = 0
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat", encoding="latin-1") as stat:
                found += name.isdigit() and int(stat.read().rpartition(")")[2].split()[1]) == os.getpid()
        except OSError:
            pass
    return found


@atexit.register  # before the tracer's own callback is, so called after it
def at_end():
    try:
        waited = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        waited = "none"
    print(waited, children(), len(signals), len(set(descriptors()) - set(before)))


def exchange():
    global first, second
    with open("go", encoding="ascii"):
        at, first = first.pointer, None
        second = Buffer(64 * KIB)
    with open("gone", "w", encoding="ascii") as gone:
        gone.write(str(int(second.pointer == at)))
    threading.Event().wait()


if sys.argv[1:] == ["exchange"]:
    atexit.unregister(at_end)
    first, kept = Buffer(64 * KIB), Buffer(64 * KIB)
    threading.Thread(target=exchange, daemon=True).start()
    ctypes.CDLL(None).vramtrace_v1_snapshot(b"exchange")
    print(first is None)
    sys.exit()
if sys.argv[1:]:
    threading.Thread(target=threading.Event().wait, daemon=True).start()
ballast = [[i] for i in range(100000)]
history = [Buffer(64 * KIB, owner=False) for _ in range(20 if sys.argv[1:] == ["cleared"] else 3)]
before = descriptors()
if sys.argv[1:] == ["cleared"]:
    atexit._clear()
