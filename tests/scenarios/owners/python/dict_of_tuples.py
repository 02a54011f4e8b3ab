# SPDX-License-Identifier: MIT
# OWNER memo[(1, 3)] in module __main__: 32 KiB
# OWNER memo[(1, 4)] in module __main__: 32 KiB
# OWNER memo[(2, 3)] in module __main__: 32 KiB
# OWNER memo[(2, 4)] in module __main__: 32 KiB
"""A dictionary whose keys are tuples."""

from simgpu import KIB, Buffer

memo = {}
for width in (1, 2):
    for height in (3, 4):
        memo[width, height] = Buffer(32 * KIB)
