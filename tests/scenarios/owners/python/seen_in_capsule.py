# SPDX-License-Identifier: MIT
# OWNER nobody: 64 KiB
# LAST a block of 40 bytes on the heap behind an object of class PyCapsule | a block of 56 bytes on the heap behind an object of class PyCapsule
# EXTENSION buffer_pool
"""A structure of an extension, in a capsule, as tensors are handed from library to library."""

import buffer_pool

from simgpu import KIB, address

exchanged = {"x": buffer_pool.wrap(address(64 * KIB))}
