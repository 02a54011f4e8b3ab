# SPDX-License-Identifier: MIT
# OWNER nobody: 3 x 64 KiB
# EXTENSION buffer_pool
"""Objects of an extension in a list. What an extension keeps in an object is not known."""

import buffer_pool

from simgpu import KIB, address

history = [buffer_pool.Buffer(address(64 * KIB)) for _ in range(3)]
