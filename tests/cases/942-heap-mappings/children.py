# SPDX-License-Identifier: MIT
"""children.py HOW SETTING: what work() does, in a child that HOW starts ("none": in this process itself), with SETTING made to a
part of the C library's heap before and in the child."""

import array
import ctypes
import multiprocessing
import os
import sys

libc = ctypes.CDLL(None)
libc.malloc.restype = libc.aligned_alloc.restype = ctypes.c_void_p
PAGE = 4096
history, rows, parts = [], [], []


def split(setting):
    """Two pages within a block of malloc's, amid others."""
    parts.extend(bytearray(2000 + 16 * i) for i in range(200))
    at = libc.aligned_alloc(ctypes.c_size_t(PAGE), ctypes.c_size_t(12 * PAGE))
    ctypes.memset(ctypes.c_void_p(at), 0, 12 * PAGE)
    parts.extend(bytearray(2000 + 16 * i) for i in range(200))
    part = ctypes.c_void_p(at + 4 * PAGE), ctypes.c_size_t(2 * PAGE)
    if setting == "mlock":
        assert libc.mlock(*part) == 0
    elif setting in ("dontfork", "hugepage"):
        assert libc.madvise(*part, 10 if setting == "dontfork" else 14) == 0


def allocate(cuda, count):
    pointer = ctypes.c_uint64()
    assert cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(count << 20)) == 0
    return pointer.value


def work(setting):
    split(setting)
    parts.extend(bytearray(3000) for _ in range(3000))  # the heap grows
    cuda = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    cuda.cuInit(0)
    cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0)
    for _ in range(5):
        history.append(array.array("Q", [allocate(cuda, 1)] + [0] * 300))
    for _ in range(5):
        rows.append({"row": allocate(cuda, 2)})
    dropped = []
    for _ in range(5):
        dropped.append(array.array("Q", [allocate(cuda, 3)] + [0] * 300))
    dropped.clear()
    parts.extend(bytearray(3000) for _ in range(3000))


if __name__ == "__main__":
    how, setting = sys.argv[1:]
    split(setting)
    if how == "none":
        work(setting)
    elif how == "os.fork":
        child = os.fork()
        if not child:
            work(setting)
            sys.exit()
        assert os.waitpid(child, 0)[1] == 0
    else:
        child = multiprocessing.get_context(how).Process(target=work, args=(setting,))
        child.start()
        child.join()
        assert child.exitcode == 0
