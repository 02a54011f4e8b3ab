# SPDX-License-Identifier: MIT
# OWNER readers[*].file in module __main__: 3 x 64 KiB
# OWNER readers[*].index in module __main__: 2 x 32 KiB
"""Objects of one class that got their attributes in different orders."""

from simgpu import KIB, Buffer


class Reader:
    def __init__(self, indexed, first):
        if first:
            self.index = Buffer(32 * KIB) if indexed else None
            self.file = Buffer(64 * KIB)
        else:
            self.file = Buffer(64 * KIB)
            self.index = Buffer(32 * KIB) if indexed else None


readers = [Reader(True, True), Reader(True, False), Reader(False, False)]
