# SPDX-License-Identifier: MIT
# OWNER nobody: 3 x 64 KiB
# LAST 3 objects of class buffer_pool.Buffer behind history (list) in __main__, seen_in_extension.py
# EXTENSION buffer_pool
"""Objects of an extension in a list. What an extension keeps in an object is not known."""

import buffer_pool

from simgpu import KIB, address

history = [buffer_pool.Buffer(address(64 * KIB)) for _ in range(3)]
