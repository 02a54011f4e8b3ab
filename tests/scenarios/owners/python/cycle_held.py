# SPDX-License-Identifier: MIT
# OWNER node.data in module __main__: 64 KiB
"""A cycle that somebody holds is not held by the cycle alone."""

import gc

from simgpu import KIB, Buffer

gc.disable()


class Node:
    def __init__(self):
        self.data = Buffer(64 * KIB)
        self.me = self


node = Node()
