# SPDX-License-Identifier: MIT
"""objects.py COUNT: a program of about so many Python objects of common kinds that can hold others, and several times as many
that cannot. An attribute of one of the last ones holds device memory, by its address alone: so nothing ends the search early.
Started by tests/bench/owners."""

import ctypes
import gc
import sys

cuda = ctypes.CDLL("libcuda.so.1")


def check(status):
    if status:
        raise MemoryError(f"the driver answered {status}")


class Memory:
    def __init__(self, size):
        pointer = ctypes.c_uint64()
        check(cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(size)))
        self.pointer = pointer.value


class Sample:
    def __init__(self, index, below):
        self.index, self.name, self.values, self.below = index, f"sample {index}", (float(index), [index, index + 1]), below


check(cuda.cuInit(0))
context = ctypes.c_void_p()
check(cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0))
gc.disable()
samples, table = [], {}
for i in range(int(sys.argv[1]) // 8):  # each turn makes eight
    below = {"id": i + 1000000, "label": f"l{i}", "box": [i * 0.5, {"x": i}]}
    samples.append(Sample(i + 1000000, below))
    table[f"k{i}"] = samples[-1]
samples[-1].below["box"][1]["memory"] = Memory(1 << 16)
