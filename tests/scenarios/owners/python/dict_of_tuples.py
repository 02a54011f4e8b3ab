# SPDX-License-Identifier: MIT
# OWNER memo[*] in module __main__: 4 x 32 KiB
"""A dictionary whose keys are tuples."""

from simgpu import KIB, Buffer

memo = {}
for width in (1, 2):
    for height in (3, 4):
        memo[width, height] = Buffer(32 * KIB)
