# SPDX-License-Identifier: MIT
# OWNER Device._instance.pool[*] in module __main__: 2 x 64 KiB
"""A singleton."""

from simgpu import KIB, Buffer


class Device:
    _instance = None

    def __new__(cls):
        if cls._instance is None:
            cls._instance = super().__new__(cls)
            cls._instance.pool = []
        return cls._instance

    def reserve(self):
        self.pool.append(Buffer(64 * KIB))


Device().reserve()
Device().reserve()
