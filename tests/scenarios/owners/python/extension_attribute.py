# SPDX-License-Identifier: MIT
# OWNER nobody: 64 KiB
# EXTENSION buffer_pool
"""An object of an extension in an attribute."""

import buffer_pool

from simgpu import KIB, address


class Loader:
    def __init__(self):
        self.staging = buffer_pool.Buffer(address(64 * KIB))


loader = Loader()
