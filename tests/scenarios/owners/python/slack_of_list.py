# SPDX-License-Identifier: MIT
# OWNER nobody: 3 x 64 KiB
# OWNER kept[*] in module __main__: 2 x 32 KiB
"""Addresses that were taken off a list and given up: its slack still has them."""

from simgpu import KIB, address

kept = [address((32 if number < 2 else 64) * KIB) for number in range(5)]
while len(kept) > 2:
    kept.pop()
