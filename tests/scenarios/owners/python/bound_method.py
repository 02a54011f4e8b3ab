# SPDX-License-Identifier: MIT
# OWNER callbacks[*].__self__.image in module __main__: 3 x 64 KiB
"""Bound methods that are registered keep their objects."""

from simgpu import KIB, Buffer

callbacks = []


class View:
    def __init__(self):
        self.image = Buffer(64 * KIB)

    def redraw(self):
        pass


for _ in range(3):
    callbacks.append(View().redraw)
