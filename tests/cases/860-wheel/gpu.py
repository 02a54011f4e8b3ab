# SPDX-License-Identifier: MIT
"""Device memory by the driver API alone: needs nothing but Python."""

import ctypes

cuda = ctypes.CDLL("libcuda.so.1")


def check(status):
    if status:
        raise RuntimeError(f"CUDA error {status}")


def allocate(size):
    address = ctypes.c_uint64()
    check(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)))
    return address.value


def free(address):
    check(cuda.cuMemFree_v2(ctypes.c_uint64(address)))


check(cuda.cuInit(0))
context = ctypes.c_void_p()
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
check(cuda.cuCtxSetCurrent(context))
