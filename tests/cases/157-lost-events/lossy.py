# SPDX-License-Identifier: MIT
"""lossy.py FSIZE ROUNDS CACHED [HIGH]: each of ROUNDS makes and frees eight blocks, and puts one into a cache of at most CACHED;
under a file size limit of FSIZE, past which nothing can be recorded (0: none). HIGH: first, HIGH blocks at once, freed again."""
import ctypes
import resource
import sys

limit, rounds, cached, high = (int(word) for word in (sys.argv[1:] + ["0"])[:4])
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
driver, context, cache = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), {}
assert not driver.cuInit(0) and not driver.cuCtxCreate_v2(ctypes.byref(context), 0, 0)


def get():
    address = ctypes.c_uint64()
    assert not driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(4096))
    return address


def put(blocks):
    for block in blocks:
        assert not driver.cuMemFree_v2(block)


def step(i):
    some = [get() for _ in range(8)]
    if i % cached not in cache:
        cache[i % cached] = get()
    put(some)


put([get() for _ in range(high)])
for i in range(rounds):
    step(i)
