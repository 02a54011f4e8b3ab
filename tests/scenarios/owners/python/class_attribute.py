# SPDX-License-Identifier: MIT
# OWNER Cache.entries[*] in module __main__: 2 x 64 KiB, 32 KiB
"""A list that belongs to a class."""

from simgpu import KIB, Buffer


class Cache:
    entries = []

    def put(self, buffer):
        self.entries.append(buffer)


Cache().put(Buffer(64 * KIB))
Cache().put(Buffer(64 * KIB))
Cache().put(Buffer(32 * KIB))
