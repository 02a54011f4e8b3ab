# SPDX-License-Identifier: MIT
"""A workspace for each shape, of which there are a few; or for each exact length."""

import random

from simgpu import KIB, Buffer, leaking, work

random.seed(5)
spaces = {}
for i in range(400):
    length = random.randrange(1, 20000)
    key = length if leaking else length.bit_length()
    if key not in spaces:
        spaces[key] = Buffer(16 * KIB)  # LEAK
    work()
