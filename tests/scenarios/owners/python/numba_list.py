# SPDX-License-Identifier: MIT
# OWNER history[*] in module __main__: 3 x 65536
# NEEDS numba
"""Numba's arrays in a list."""

import numpy
from numba import cuda

history = [cuda.to_device(numpy.zeros(65536, dtype=numpy.uint8)) for _ in range(3)]
