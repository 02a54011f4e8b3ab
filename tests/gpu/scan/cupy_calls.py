# SPDX-License-Identifier: MIT
"""Memory that a list keeps and memory that is lost, beside arrays of CuPy's pool."""

import cupy

kept = [cupy.cuda.runtime.malloc(3000000 + i) for i in range(24)]
arrays = {i: cupy.zeros(1000000 + i, dtype="u1") for i in range(8)}
for i in range(24):
    cupy.cuda.runtime.malloc(4000000 + i)
cupy.cuda.runtime.deviceSynchronize()
