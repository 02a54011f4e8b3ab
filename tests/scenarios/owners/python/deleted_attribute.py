# SPDX-License-Identifier: MIT
# OWNER session.output in module __main__: 128 KiB
"""An attribute that was deleted, beside one that was not."""

from simgpu import KIB, Buffer


class Session:
    def __init__(self):
        self.input = Buffer(64 * KIB)
        self.output = Buffer(128 * KIB)


session = Session()
del session.input
