# SPDX-License-Identifier: MIT
"""Numba: frames are worked on in device arrays; every one is remembered with its result, or the last five."""

import collections
import sys

import numpy
from numba import cuda

recent = collections.deque(maxlen=None if sys.argv[1:] == ["leak"] else 5)
for i in range(160):
    frame = cuda.to_device(numpy.zeros((64, 64)))  # LEAK
    result = cuda.device_array_like(frame)
    recent.append(frame)
    del frame, result
