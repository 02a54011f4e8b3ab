# SPDX-License-Identifier: MIT
# OWNER pair.left in module __main__: 64 KiB
# OWNER pair.right in module __main__: 128 KiB
"""Attributes in slots."""

from simgpu import KIB, Buffer


class Pair:
    __slots__ = ("left", "right")

    def __init__(self, left, right):
        self.left = left
        self.right = right


pair = Pair(Buffer(64 * KIB), Buffer(128 * KIB))
