# SPDX-License-Identifier: MIT
# MAYBE table in module __main__: 3 x 32 KiB
"""Addresses in an array of numbers, which could be any numbers."""

import array

from simgpu import KIB, address

table = array.array("Q", (address(32 * KIB) for _ in range(3)))
