# SPDX-License-Identifier: MIT
"""program.py WHAT: lets its children be in another namespace, or has a limit of processes or a scheduling policy, and goes on as its memory
grows. Prints what came of it."""

import ctypes
import glob
import os
import resource
import sys
import threading

from simgpu import KIB, Buffer

libc = ctypes.CDLL(None, use_errno=True)
PID, TIME = 0x20000000, 0x80


def grow(count):
    for _ in range(count):
        kept.append(Buffer(64 * KIB))


def ask():
    if "libvramtrace" in os.environ["LD_PRELOAD"]:
        libc.vramtrace_v1_snapshot(b"asked")


def unshare(what):
    if libc.unshare(what):
        print("refused", os.strerror(ctypes.get_errno()))
        sys.exit(77)


def forked():
    """Five children, one after the other; their numbers, which are theirs in the namespace."""
    numbers = []
    for _ in range(5):
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.write(writer, str(os.getpid()).encode())
            os._exit(0)
        numbers.append(os.read(reader, 9).decode())
        os.close(reader)
        os.close(writer)
        os.waitpid(child, 0)
        if numbers == ["1"]:
            break  # the namespace has ended with it
    return numbers


def pid():
    unshare(PID)
    grow(100)
    ask()
    print(*forked())


def pid_alone():
    """The same by a thread that waits for it, so the memory is not copied where there is no other."""
    unshare(PID)
    ask()
    print(*forked())


def time():
    unshare(TIME)
    grow(100)
    with open("/proc/self/timens_offsets", "w", encoding="ascii") as file:
        file.write("monotonic 100 0")
    print("offset")


def processes():
    """One thread more is the last one it may have, as a user with no other process."""
    mine = len(os.listdir("/proc/self/task"))
    resource.setrlimit(resource.RLIMIT_NPROC, (mine + 1, mine + 1))
    os.setresuid(54321, 54321, 54321)
    failed = 0
    for _ in range(100):
        grow(1)
        try:
            thread = threading.Thread(target=int)
            thread.start()
            thread.join()
            while len(os.listdir("/proc/self/task")) > mine:
                pass  # it counts until it is gone
        except RuntimeError:
            failed += 1
    print(failed)


def others():
    """What other users run does not count, however much it is."""
    mine = len(os.listdir("/proc/self/task"))
    resource.setrlimit(resource.RLIMIT_NPROC, (mine + 60, mine + 60))
    os.setresuid(54321, 54321, 54321)
    grow(100)
    print("grown")


def policy():
    """Real-time, on one processor; the policies and numbers of processors with which copies go on."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(30))
    except PermissionError:
        print("refused")
        sys.exit(77)
    found = set()
    for _ in range(50):
        grow(1)
        last = None
        for path in glob.glob("/proc/self/task/*/children"):
            with open(path, encoding="ascii") as file:
                copies = file.read().split()
            try:
                while copies:  # until it ends, or does as it will
                    last = os.sched_getscheduler(int(copies[0])), len(os.sched_getaffinity(int(copies[0])))
                    if last[0] == os.SCHED_IDLE:
                        break
            except ProcessLookupError:
                pass
        if last:
            found.add(last)
    print(*sorted(found))


kept = [[[str(i)] for i in range(20000)]]
grow(1)
globals()[sys.argv[1]]()
