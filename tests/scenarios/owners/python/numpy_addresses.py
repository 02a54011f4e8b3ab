# SPDX-License-Identifier: MIT
# MAYBE table in module __main__: 3 x 32 KiB
# NEEDS numpy
"""Addresses in a NumPy array of numbers, which could be any numbers."""

import numpy

from simgpu import KIB, address

table = numpy.array([address(32 * KIB) for _ in range(3)], dtype=numpy.uint64)
