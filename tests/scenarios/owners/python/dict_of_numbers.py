# SPDX-License-Identifier: MIT
# OWNER by_step[*] in module __main__: 5 x 32 KiB
"""A dictionary whose keys are numbers."""

from simgpu import KIB, Buffer

by_step = {}
for step in range(0, 50, 10):
    by_step[step] = Buffer(32 * KIB)
