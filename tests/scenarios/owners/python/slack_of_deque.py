# SPDX-License-Identifier: MIT
# OWNER nobody: 3 x 64 KiB
# OWNER recent[*] in module __main__: 2 x 32 KiB
"""Addresses that were taken off a deque."""

import collections

from simgpu import KIB, address

recent = collections.deque(address((64 if number < 3 else 32) * KIB) for number in range(5))
for _ in range(3):
    recent.popleft()
