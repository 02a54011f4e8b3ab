# SPDX-License-Identifier: MIT
# OWNER Node.data in cycle: 4 x 64 KiB
"""Reference cycles that the collector has not seen."""

import gc

from simgpu import KIB, Buffer

gc.disable()


class Node:
    def __init__(self):
        self.data = Buffer(64 * KIB)
        self.me = self


for _ in range(4):
    Node()
