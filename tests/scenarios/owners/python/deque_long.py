# SPDX-License-Identifier: MIT
# OWNER recent[*] in module __main__: 150 x 16 KiB
"""A deque of more than one block, filled on both sides."""

import collections

from simgpu import KIB, Buffer

recent = collections.deque()
for number in range(150):
    (recent.append if number % 3 else recent.appendleft)(Buffer(16 * KIB))
