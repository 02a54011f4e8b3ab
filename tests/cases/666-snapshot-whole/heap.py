# SPDX-License-Identifier: MIT
"""Keeps 60,000 small containers, and a block more with each piece of work."""

import ctypes

cuda = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)


class Block:
    def __init__(self):
        self.at = ctypes.c_uint64()
        assert cuda.cuMemAlloc_v2(ctypes.byref(self.at), ctypes.c_size_t(1 << 20)) == 0


def main():
    rows = [{"row": [i, str(i)]} for i in range(60000)]
    kept = []
    for _ in range(6000):
        kept.append(Block())
        sum(range(60000))
    print(len(rows), len(kept))


main()
