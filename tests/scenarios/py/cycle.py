# SPDX-License-Identifier: MIT
"""Objects in reference cycles while the collector is off; or with the cycle undone."""

import gc

from simgpu import KIB, Buffer, leaking, work

gc.disable()


class Node:
    def __init__(self):
        self.data = Buffer(128 * KIB)  # LEAK
        self.me = self


for _ in range(120):
    node = Node()
    work()
    if not leaking:
        node.me = None
