# SPDX-License-Identifier: MIT
"""Numba's arrays, with its queue of frees as it is: a list keeps them, or does not."""

import sys

import numpy
from numba import cuda

kept = []


def step(leaking):
    scores = cuda.device_array(4096, dtype=numpy.float32)  # LEAK
    batch = cuda.to_device(numpy.zeros(1024))
    kept.append(scores if leaking else batch.size)


for _ in range(130):
    step(sys.argv[1:] == ["leak"])
