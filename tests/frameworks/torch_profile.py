# SPDX-License-Identifier: MIT
"""Allocates under PyTorch's profiler, on the CPU and, given the stand-in's path, through its CUDA reports; prints the
profiler's memory events as [[bytes, device type], ...]."""

import ctypes
import json
import sys

import torch
from torch.profiler import ProfilerActivity, profile

if sys.argv[1:]:
    cuda = ctypes.CDLL(sys.argv[1])
    cuda.standin_malloc.restype = ctypes.c_void_p
    cuda.standin_malloc.argtypes = [ctypes.c_size_t, ctypes.c_int]
    cuda.standin_free.argtypes = [ctypes.c_void_p]
with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as p:
    tensors = [torch.zeros(1000 * (n + 1)) for n in range(10)]
    del tensors
    if sys.argv[1:]:
        for n in range(50):
            cuda.standin_free(cuda.standin_malloc(1000 * (n + 1), 0))
events = [e for e in p.profiler.kineto_results.events() if e.name() == "[memory]"]
print(json.dumps([[int(e.nbytes()), str(e.device_type())] for e in events]))
