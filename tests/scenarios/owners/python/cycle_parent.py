# SPDX-License-Identifier: MIT
# OWNER Leaf.data in cycle: 3 x 64 KiB
"""Parents and children that know each other."""

import gc

from simgpu import KIB, Buffer

gc.disable()


class Leaf:
    def __init__(self, parent):
        self.parent = parent
        self.data = Buffer(64 * KIB)


class Tree:
    def __init__(self):
        self.leaves = [Leaf(self) for _ in range(3)]


Tree()
