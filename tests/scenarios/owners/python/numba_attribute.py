# SPDX-License-Identifier: MIT
# OWNER model.weights in module __main__: 65536
# OWNER model.view in module __main__: 131072
# NEEDS numba
"""Numba's arrays in attributes; one is only a view of what was made."""

import numpy
from numba import cuda


class Model:
    def __init__(self):
        self.weights = cuda.to_device(numpy.zeros(65536, dtype=numpy.uint8))
        self.view = cuda.device_array(131072, dtype=numpy.uint8)[1024:2048]


model = Model()
