# SPDX-License-Identifier: MIT
# OWNER bus.observers['frame'][*].__self__.canvas in module __main__: 2 x 64 KiB
"""Observers that were never removed."""

from simgpu import KIB, Buffer


class Bus:
    def __init__(self):
        self.observers = {"frame": [], "key": []}


class Window:
    def __init__(self, bus):
        self.canvas = Buffer(64 * KIB)
        bus.observers["frame"].append(self.draw)

    def draw(self):
        pass


bus = Bus()
Window(bus)
Window(bus)
