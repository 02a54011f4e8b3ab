# SPDX-License-Identifier: MIT
"""Grows, so that children look for its owners, and does what could disturb them, or be disturbed."""

import os
import signal
import subprocess
import sys
import threading
import time

from simgpu import KIB, Buffer, work

how = sys.argv[1]
signals = []
signal.signal(signal.SIGCHLD, lambda *_: signals.append(1))


def grow(count=40):
    history = []
    for _ in range(count):
        work()
        history.append(Buffer(64 * KIB))
    return history


def bank():
    """A larger one takes the place of each, beside what is much larger."""
    weights = Buffer(256 * 1024 * KIB)
    kept = Buffer(64 * KIB)
    for i in range(40):
        kept = Buffer(kept_bytes(i))
    return kept.pointer != weights.pointer


def kept_bytes(i):
    return (2 + i) * 128 * KIB


def children():
    """What wait() tells of children; "none" is the answer that a program without children gets."""
    try:
        return os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return "none"


def main():
    history = grow(120)
    if how == "plain":
        print(children(), len(signals))
    elif how == "fork":
        pid = os.fork()
        if not pid:
            os._exit(7 if children() == "none" else 8)
        print(os.waitpid(pid, 0)[1] >> 8, children())
    elif how == "exec":
        os.execv("/bin/echo", ["echo", "executed"])
    elif how == "_exit":
        os._exit(5)
    elif how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif how == "thread":
        # The kernel ends a child when the thread that made it ends.
        kept = []
        for _ in range(5):
            worker = threading.Thread(target=lambda: kept.extend(grow(16)))
            worker.start()
            worker.join()
        print(children(), len(kept))
    elif how == "subprocess":
        print([subprocess.run(["true"], check=False).returncode for _ in range(5)], children())
    elif how == "killed-child":
        for line in open("/proc/self/task/%d/children" % threading.get_native_id()).read().split():
            os.kill(int(line), signal.SIGKILL)
        print(children(), len(grow()))
    elif how == "sleep":
        Buffer(KIB)
        sys.stdout.write("grown\n")
        sys.stdout.flush()
        while True:
            time.sleep(1)
    return len(history)


if how == "bank":
    bank()
else:
    main()
