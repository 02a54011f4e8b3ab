# SPDX-License-Identifier: MIT
"""Keeps blocks in a list, and takes it down at the end: in between, nothing that can be named leads to most of them."""

import ctypes

HIDES = 0x5A5A5A5A5A5A5A5A
snapshot = ctypes.CDLL(None).vramtrace_v1_snapshot
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
    history = []
    for _ in range(60):
        history.append(Block())
    snapshot(b"whole")
    hidden = []
    while history:
        block = history.pop()
        hidden.append(block.at.value ^ HIDES)
        block.at.value = 0
    del block
    snapshot(b"on its way")
    for address in hidden:
        cuda.cuMemFree_v2(ctypes.c_uint64(address ^ HIDES))


main()
