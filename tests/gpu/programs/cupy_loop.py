# SPDX-License-Identifier: MIT
"""CuPy: its pool, a kept list, cuBLAS."""
import cupy

kept = []
for i in range(100):
    a = cupy.ones((512, 512), dtype=cupy.float32) * i
    b = a @ a
    if i % 10 == 0:
        kept.append(b)
cupy.cuda.Device().synchronize()
