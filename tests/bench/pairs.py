# SPDX-License-Identifier: MIT
"""pairs.py DEPTH PAIRS: alloc/free pairs through ctypes at the end of a Python call chain of a given depth, one stack;
prints how many nanoseconds of its processor time a pair took. Started by tests/bench/python and tests/bench/instructions, with
a libcuda.so.1 whose allocations are malloc's (stub_cuda.c)."""

import ctypes
import sys
import time

cuda = ctypes.CDLL("libcuda.so.1")
alloc, free = cuda.cuMemAlloc_v2, cuda.cuMemFree_v2
alloc.argtypes, free.argtypes = (ctypes.c_void_p, ctypes.c_size_t), (ctypes.c_uint64,)


def pairs(count):
    address = ctypes.c_uint64()
    out = ctypes.byref(address)
    begin = time.thread_time_ns()
    for _ in range(count):
        if alloc(out, 64):
            raise MemoryError
        free(address)
    return (time.thread_time_ns() - begin) / count


def descend(levels, count):
    return pairs(count) if levels <= 1 else descend(levels - 1, count)


descend(int(sys.argv[1]) - 1, 1000)
cuda.count_instructions(1)
ns = descend(int(sys.argv[1]) - 1, int(sys.argv[2]))
cuda.count_instructions(0)
print(ns)
