# SPDX-License-Identifier: MIT
"""churn.py ALLOCATIONS: eight threads define, call and drop functions while the collector runs; function f_<k>_ allocates
4096 + 512 * k bytes, with the GIL released or held, and frees them. So in the report each site proves its own name."""
import ctypes
import gc
import random
import sys
import threading

THREADS, NAMES, A_CALL = 8, 500, 20
each = int(sys.argv[1]) // THREADS // A_CALL
released, held = ctypes.CDLL("libcuda.so.1"), ctypes.PyDLL("libcuda.so.1")
for lib in (released, held):
    lib.cuMemAlloc_v2.argtypes = [ctypes.POINTER(ctypes.c_uint64), ctypes.c_size_t]
    lib.cuMemFree_v2.argtypes = [ctypes.c_uint64]
context = ctypes.c_void_p()
assert released.cuInit(0) == 0 and released.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0
gc.set_threshold(50, 2, 2)
failed = []

SOURCE = """def f_{k}_(allocate, free, pointer, at):
    for i in range({n}):
        if allocate(pointer, {bytes}) == 0: free(at)
        else: raise MemoryError
"""


def work(thread):
    try:
        rng = random.Random(thread)
        assert released.cuCtxSetCurrent(context) == 0
        at = ctypes.c_uint64()
        pointer = ctypes.pointer(at)
        for n in range(each):
            lib = (released, held)[n & 1]
            k = rng.randrange(NAMES)
            space = {}
            text = SOURCE.format(k=k, n=A_CALL, bytes=4096 + 512 * k)
            exec(compile("\n" * k + text, f"churn {k}", "exec"), space)
            f = space[f"f_{k}_"]
            f(lib.cuMemAlloc_v2, lambda a: lib.cuMemFree_v2(a), pointer, at)
            ring = [f, space]
            ring.append(ring)  # only the collector frees this
    except BaseException as e:
        failed.append(repr(e))
        raise


threads = [threading.Thread(target=work, args=(t,)) for t in range(THREADS)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(each * THREADS * A_CALL)
sys.exit(bool(failed))
