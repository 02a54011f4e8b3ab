# SPDX-License-Identifier: MIT
"""Does what it reads, one line each, and says "done"."""

import ctypes
import os
import sys
import threading

from simgpu import KIB, Buffer, work

history = []


def grow(count):
    for _ in range(count):
        work()
        history.append(Buffer(64 * KIB))


def pair(count):
    for _ in range(count):
        Buffer(KIB)


def do(what, count=1):
    if what in ("grow", "pair"):
        thread = threading.Thread(target=globals()[what], args=(int(count),))
        thread.start()
        thread.join()
    elif what == "fork":
        child = os.fork()
        if not child:
            ctypes.CDLL("libcuda.so.1").cuMemAlloc_v2(ctypes.byref(ctypes.c_uint64()), ctypes.c_size_t(KIB))  # refused: an event
            os._exit(0)
        os.waitpid(child, 0)
    elif what == "seal":
        ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)


def main():
    grow(1)
    for line in sys.stdin:
        do(*line.split())
        print("done", os.getpid(), flush=True)


main()
