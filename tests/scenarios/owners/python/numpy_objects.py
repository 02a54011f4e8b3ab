# SPDX-License-Identifier: MIT
# OWNER frames[*] in module __main__: 4 x 32 KiB
# NEEDS numpy
"""A NumPy array of objects."""

import numpy

from simgpu import KIB, Buffer

frames = numpy.empty((2, 3), dtype=object)
for row in range(2):
    for column in range(2):
        frames[row, column] = Buffer(32 * KIB)
