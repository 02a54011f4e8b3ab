# SPDX-License-Identifier: MIT
"""Numba: device arrays; every tenth is kept."""
import numpy as np
from numba import cuda

kept = []


@cuda.jit
def double(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= 2


for i in range(100):
    d = cuda.to_device(np.ones(100000, dtype=np.float32))
    double[400, 256](d)
    if i % 10 == 0:
        kept.append(d)
cuda.synchronize()
