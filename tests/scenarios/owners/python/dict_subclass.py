# SPDX-License-Identifier: MIT
# OWNER registry['main'] in module __main__: 64 KiB
# OWNER registry.default in module __main__: 16 KiB
"""A class that is a dictionary, and has attributes."""

from simgpu import KIB, Buffer


class Registry(dict):
    def __init__(self):
        super().__init__()
        self.default = Buffer(16 * KIB)


registry = Registry()
registry["main"] = Buffer(64 * KIB)
