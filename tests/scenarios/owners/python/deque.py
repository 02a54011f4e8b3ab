# SPDX-License-Identifier: MIT
# OWNER recent[*] in module __main__: 5 x 32 KiB
"""A bounded deque."""

import collections

from simgpu import KIB, Buffer

recent = collections.deque(maxlen=5)
for _ in range(9):
    recent.append(Buffer(32 * KIB))
