# SPDX-License-Identifier: MIT
"""Two processes that hold 5 and 4 GiB of one GPU at the same time; the second only ends once the first one has allocated."""
import ctypes
import os

GIB = 1 << 30
ready, done = os.pipe(), os.pipe()
child = os.fork()
cuda = ctypes.CDLL("libcuda.so.1")
context, memory = ctypes.c_void_p(), ctypes.c_void_p()
assert not cuda.cuInit(0) and not cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0)
assert not cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t((5 if child else 4) * GIB))
if child:
    os.read(ready[0], 1)
    os.write(done[1], b"x")
    os.waitpid(child, 0)
else:
    os.write(ready[1], b"x")
    os.read(done[0], 1)
