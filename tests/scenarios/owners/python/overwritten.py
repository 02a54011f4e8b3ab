# SPDX-License-Identifier: MIT
# OWNER nobody: 2 x 64 KiB
# OWNER current in module __main__: 64 KiB
"""A name that was given another value."""

from simgpu import KIB, address

for _ in range(3):
    current = address(64 * KIB)
