# SPDX-License-Identifier: MIT
# OWNER nobody: 3 x 64 KiB
"""Locals of functions that returned."""

from simgpu import KIB, address


def step(depth):
    local = address(64 * KIB)
    return step(depth - 1) if depth else local > 0


step(2)
