# SPDX-License-Identifier: MIT
"""The stand-in caching allocator, as Python programs use a framework: tensors that live as long as something
refers to them. Its libraries are opened privately, as PyTorch's are; they lie in the folder STANDIN names.

    x = Tensor(4 << 20)          a tensor of 4 MiB on GPU 0; OutOfMemory where there is no room
    with stream(1): ...          requests from another stream than 0
    with pool(1): ...            requests from a private pool, as in a graph's capture
    limit(1 << 30)               as torch.cuda.set_per_process_memory_fraction
    stats()["allocated"]         the allocator's own counters
"""

import contextlib
import ctypes
import os

FOLDER = os.environ["STANDIN"]
c10 = ctypes.CDLL(f"{FOLDER}/libc10.so")  # RTLD_LOCAL is ctypes' default
cuda = ctypes.CDLL(f"{FOLDER}/libc10_cuda.so")
cuda.standin_malloc.restype = ctypes.c_void_p
cuda.standin_malloc.argtypes = [ctypes.c_size_t, ctypes.c_int]
cuda.standin_free.argtypes = [ctypes.c_void_p]
cuda.standin_limit.argtypes = [ctypes.c_int, ctypes.c_uint64]
cuda.standin_say.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int, ctypes.c_int]


class OutOfMemory(RuntimeError):
    pass


class Tensor:
    def __init__(self, size, device=0):
        self.address = None
        self.address = cuda.standin_malloc(size, device)
        if not self.address:
            raise OutOfMemory(f"CUDA out of memory. Tried to allocate {size} bytes")

    @property
    def __cuda_array_interface__(self):
        return {"data": (self.address, False), "shape": (0,), "typestr": "|u1", "version": 3}

    def __del__(self, free=cuda.standin_free):
        if self.address:
            free(self.address)


def _words(function, *arguments):
    out = (ctypes.c_uint64 * 6)()
    function(*arguments, out)
    return list(out)


def stats(device=0):
    names = ("allocated", "reserved", "peak_allocated", "peak_reserved", "retries", "ooms")
    return dict(zip(names, _words(cuda.standin_stats, device)))


def profiler():
    """What reached the stand-in for libc10: reports, the sum of their sizes, OOM reports, and of the last report
    allocated, reserved and the device word."""
    return _words(c10.standin_profiler)


def empty_cache():
    cuda.standin_empty_cache()


@contextlib.contextmanager
def stream(number):
    cuda.standin_stream(number)
    yield
    cuda.standin_stream(0)


@contextlib.contextmanager
def pool(number):
    cuda.standin_pool(number)
    yield
    cuda.standin_pool(0)


def limit(most, device=0):
    cuda.standin_limit(device, most)
