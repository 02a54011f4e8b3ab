# SPDX-License-Identifier: MIT
# OWNER tail[*] in module __main__: 2 x 32 KiB
# NEEDS numpy
"""A view of a NumPy array of objects, which holds all of it."""

import numpy

from simgpu import KIB, Buffer

frames = numpy.empty(3, dtype=object)
frames[1], frames[2] = Buffer(32 * KIB), Buffer(32 * KIB)
tail = frames[1:]
del frames
