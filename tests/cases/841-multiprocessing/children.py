# SPDX-License-Identifier: MIT
"""Children of multiprocessing, started as the argument says; each keeps what its function allocates. So does the parent."""

import ctypes
import multiprocessing
import sys


def allocate(blocks):
    cuda = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    cuda.cuInit(0)
    cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    cuda.cuCtxSetCurrent(context)
    for _ in range(blocks):
        cuda.cuMemAlloc_v2(ctypes.byref(ctypes.c_uint64()), ctypes.c_size_t(1 << 20))


class Trainer:
    def fit(self, blocks):
        allocate(blocks)


def evaluate(blocks):
    allocate(blocks)


if __name__ == "__main__":
    start = multiprocessing.get_context(sys.argv[1])
    children = [start.Process(target=Trainer().fit, args=(3,)), start.Process(target=evaluate, args=(2,))]
    for child in children:
        child.start()
    for child in children:
        child.join()
    with start.Pool(1) as pool:
        pool.map(evaluate, [1])
        pool.close()
        pool.join()
    allocate(4)
