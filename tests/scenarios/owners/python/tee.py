# SPDX-License-Identifier: MIT
# OWNER later[*] in module __main__: 70 x 64 KiB
"""What one of two iterators of itertools.tee has not read yet, in the order of more than one of its blocks."""

import itertools

from simgpu import KIB, Buffer

first, later = itertools.tee(Buffer(64 * KIB) for _ in range(70))
for _ in first:
    pass
del first, _
