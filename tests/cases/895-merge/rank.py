# SPDX-License-Identifier: MIT
"""A rank: `rank.py BLOCKS [oom]` keeps so many blocks of 1 MiB in a list, works with others, and pins host memory."""

import ctypes
import os
import sys

cuda = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
history = []


def keep(blocks):
    for _ in range(blocks):
        block = ctypes.c_uint64()
        cuda.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(1 << 20))
        history.append(block)


def work():
    for _ in range(20):
        block = ctypes.c_uint64()
        cuda.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(3 << 20))
        cuda.cuMemFree_v2(block)


def pin():
    cuda.cuMemAllocHost_v2(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(4 << 20))


def fill(blocks):
    for _ in range(blocks):
        keep(1)
        work()


def ask(size):
    cuda.cuMemAlloc_v2(ctypes.byref(ctypes.c_uint64()), ctypes.c_size_t(size))


def overflow():
    ask(1 << 40)


if "refused" in sys.argv:
    other = ctypes.c_void_p()
    cuda.cuDevicePrimaryCtxRetain(ctypes.byref(other), 1)
    cuda.cuCtxSetCurrent(other)
    overflow()
    cuda.cuCtxSetCurrent(context)
keep(int(sys.argv[1]))
work()
pin()
if "fill" in sys.argv:
    fill(int(os.environ["FILL"]))
if "oom" in sys.argv:
    overflow()
if "wait" in sys.argv:
    print("ready", flush=True)
    sys.stdin.readline()
    keep(1)
