# SPDX-License-Identifier: MIT
"""heap.py MIB ROUNDS [THREADS [BURST_MIB [KEPT_MIB]]]: keeps device memory in a list that grows in each round, and writes to all of a
heap of that size in each round, with so many native threads. BURST: half way they allocate as much more at once, and drop it.
KEPT: so much more stays from the last round on. It prints the seconds that the rounds took, those of the
processor that it used in all, and the faults of pages."""

import ctypes
import mmap
import resource
import sys
import threading
import time

from simgpu import KIB, Buffer

MIB = 1 << 20
size, rounds, threads, burst, keep = [int(word) for word in sys.argv[1:]] + [1, 0, 0][len(sys.argv) - 3:]
memset = ctypes.CDLL(None).memset
memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]


def memory(mib):
    made = mmap.mmap(-1, mib * MIB, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return made, ctypes.addressof(ctypes.c_char.from_buffer(made))


def each(work):
    """By all threads at once, each with its number."""
    running = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


def write(number):
    for _, at in heap[number::threads]:
        memset(at, number + 1, MIB * piece)


def allocate(number):
    held = memory(burst // threads)
    memset(held[1], 1, burst // threads * MIB)


def main():
    history = []
    began = time.monotonic()
    for i in range(rounds):
        history.append(Buffer(64 * KIB))
        each(write) if threads > 1 else write(0)
        if burst and i >= rounds // 2 and i % 8 == 0:
            writers = threading.Thread(target=each, args=(write,))
            writers.start()
            each(allocate)
            writers.join()
    seconds = time.monotonic() - began
    if keep:
        held.append(memory(keep))
        memset(held[0][1], 1, keep * MIB)
    return seconds


held = []
piece = max(1, size // (4 * threads))
heap = [memory(piece) for _ in range(size // piece)]
each(write)
seconds = main()
used = resource.getrusage(resource.RUSAGE_SELF)
print(f"{seconds:.3f} {used.ru_utime + used.ru_stime:.3f} {used.ru_minflt}")
