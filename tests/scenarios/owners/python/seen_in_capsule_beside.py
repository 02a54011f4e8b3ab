# SPDX-License-Identifier: MIT
# OWNER nobody: 64 KiB
# LAST a block of 40 bytes on the heap behind an object of class PyCapsule | a block of 56 bytes on the heap behind an object of class PyCapsule
# EXTENSION buffer_pool
"""A structure in a capsule. Other objects have its address in memory behind their ends, which nothing has used since."""

import buffer_pool

from simgpu import KIB, address

before = [buffer_pool.beside() for _ in range(500)]
exchanged = {"x": buffer_pool.wrap(address(64 * KIB))}
