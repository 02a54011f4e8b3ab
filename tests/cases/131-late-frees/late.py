# SPDX-License-Identifier: MIT
"""Frees in atexit, in __del__ of an object in a cycle with the module's globals, and at the interpreter's end."""
import atexit
import ctypes
import sys

cu = ctypes.CDLL("libcuda.so.1")
assert cu.cuInit(0) == 0
context = ctypes.c_void_p()
assert cu.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0


class Piece:
    def __init__(self, cu=cu, ctypes=ctypes):
        self.cu, self.at = cu, ctypes.c_ulonglong()
        assert cu.cuMemAlloc_v2(ctypes.byref(self.at), ctypes.c_size_t(2048)) == 0

    def __del__(self):
        if self.at:
            assert self.cu.cuMemFree_v2(self.at) == 0
            self.at = None


by_globals, by_cycle, by_atexit, kept = Piece(), Piece(), Piece(), ctypes.c_ulonglong()
by_cycle.itself = by_cycle
sys.modules["keeps_it"] = Piece()
atexit.register(lambda: by_atexit.__del__())
assert cu.cuMemAlloc_v2(ctypes.byref(kept), ctypes.c_size_t(77)) == 0
