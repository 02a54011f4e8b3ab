# SPDX-License-Identifier: MIT
"""Holds memory and waits for lines: `work` allocates and frees, `end` ends. Answers each with a line."""

import ctypes
import sys

cuda = ctypes.CDLL("libcuda.so.1")


def check(result):
    if result != 0:
        raise RuntimeError(f"CUDA answered {result}")


def allocate(size=65536):
    place = ctypes.c_uint64()
    check(cuda.cuMemAlloc_v2(ctypes.byref(place), ctypes.c_size_t(size)))
    return place


context = ctypes.c_void_p()
check(cuda.cuInit(0))
check(cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0))
history = []
for _ in range(100 if sys.argv[1:] != ["nothing"] else 0):
    check(cuda.cuMemFree_v2(allocate()))
    history.append(allocate())
print("up", flush=True)
for line in sys.stdin:
    if line == "end\n":
        break
    check(cuda.cuMemFree_v2(allocate()))
    if history:
        history.append(allocate())
    print("done", flush=True)
