# SPDX-License-Identifier: MIT
"""Keeps or drops device pointers in Python objects: keep.py WAY END. END: exit, _exit."""

import atexit
import ctypes
import os
import sys

cuda = ctypes.CDLL("libcuda.so.1")
COUNT = 50


def check(result):
    if result != 0:
        raise RuntimeError(f"CUDA answered {result}")


def start():
    context = ctypes.c_void_p()
    check(cuda.cuInit(0))
    check(cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0))


class Holder:
    def __init__(self, pointer):
        self.pointer = pointer


place = ctypes.c_uint64()


def allocate():
    check(cuda.cuMemAlloc_v2(ctypes.byref(place), ctypes.c_size_t(65536)))
    value = place.value
    place.value = 0
    return value


def ints():
    return [allocate() for _ in range(COUNT)]


def ctypes_values():
    return [ctypes.c_void_p(allocate()) for _ in range(COUNT)]


def objects():
    return {i: Holder(allocate()) for i in range(COUNT)}


def array():
    return (ctypes.c_uint64 * COUNT)(*ints())


start()
make = {"ints": ints, "cleared": ints, "ctypes": ctypes_values, "objects": objects, "array": array}[sys.argv[1].removeprefix("dropped-")]
kept = make()
if sys.argv[1].startswith("dropped-"):
    del kept
    churn = [object() for _ in range(1000)]
if sys.argv[1] == "cleared":
    atexit._clear()
sys.stdout.flush()
if sys.argv[2] == "_exit":
    os._exit(0)
