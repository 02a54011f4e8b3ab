# SPDX-License-Identifier: MIT
# OWNER nobody: 64 KiB
"""What computes with a variable's value only borrows it, from 3.14 on: no reference of the cycle's own."""

import gc
import operator

from simgpu import KIB, Buffer

gc.disable()


class Node:
    def __init__(self):
        self.data = Buffer(64 * KIB)


def steps(node):
    yield
    [node, (yield)]


def hold():
    node = Node()
    node.steps = steps(node)
    next(node.steps)
    next(node.steps)
    return operator.itemgetter(node)  # which the tracer does not know


held = hold()
