# SPDX-License-Identifier: MIT
# OWNER head.data in module __main__: 16 KiB
# OWNER head.next_node….data in module __main__: 19 x 16 KiB
"""A linked list. Its depth is no name."""

from simgpu import KIB, Buffer


class Node:
    def __init__(self, next_node):
        self.next_node = next_node
        self.data = Buffer(16 * KIB)


head = None
for _ in range(20):
    head = Node(head)
