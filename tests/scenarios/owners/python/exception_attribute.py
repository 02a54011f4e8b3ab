# SPDX-License-Identifier: MIT
# OWNER error.batch in module __main__: 64 KiB
"""An exception of one's own, with an attribute."""

from simgpu import KIB, Buffer


class Corrupt(Exception):
    def __init__(self, batch):
        super().__init__("corrupt")
        self.batch = batch


error = Corrupt(Buffer(64 * KIB))
