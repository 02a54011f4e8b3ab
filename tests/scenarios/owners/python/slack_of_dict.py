# SPDX-License-Identifier: MIT
# OWNER nobody: 3 x 64 KiB
# OWNER kept['0'] in module __main__: 32 KiB
"""Addresses whose keys were deleted."""

from simgpu import KIB, address

kept = {str(number): address((64 if number else 32) * KIB) for number in range(4)}
for number in range(1, 4):
    del kept[str(number)]
