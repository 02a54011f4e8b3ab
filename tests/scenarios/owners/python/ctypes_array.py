# SPDX-License-Identifier: MIT
# OWNER table in module __main__: 5 x 16 KiB
"""Addresses in a ctypes array."""

import ctypes

from simgpu import KIB, address

table = (ctypes.c_uint64 * 5)()
for number in range(5):
    table[number] = address(16 * KIB)
