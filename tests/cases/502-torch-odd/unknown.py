# SPDX-License-Identifier: MIT
"""A libc10.so whose reports nobody knows, in a process that uses the GPU."""

import ctypes
import os

ctypes.CDLL(f"{os.environ['STANDIN']}/libc10.so")
runtime = ctypes.CDLL("libcudart.so.13")
pointer = ctypes.c_void_p()
assert runtime.cudaMalloc(ctypes.byref(pointer), 4096) == 0
