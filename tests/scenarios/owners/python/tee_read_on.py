# SPDX-License-Identifier: MIT
# OWNER ahead[*]|behind[*] in module __main__: 57 x 64 KiB
"""Iterators of itertools.tee that were both read to the end keep the last block of what they read."""

import itertools

from simgpu import KIB, Buffer

ahead, behind = itertools.tee(Buffer(64 * KIB) for _ in range(57 * 2))
for one, other in zip(ahead, behind):
    pass
del one, other
