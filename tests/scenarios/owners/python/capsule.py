# SPDX-License-Identifier: MIT
# OWNER nobody: 64 KiB
# EXTENSION buffer_pool
"""A structure of an extension, in a capsule, as tensors are handed from library to library."""

import buffer_pool

from simgpu import KIB, address

exchanged = {"x": buffer_pool.wrap(address(64 * KIB))}
