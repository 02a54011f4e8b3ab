# SPDX-License-Identifier: MIT
# GONE last.buffer in frame main: 1 x 64 KiB
# GONE last.before….buffer in frame main: 39 x 64 KiB
"""A linked list whose end main() holds."""

from simgpu import KIB, Buffer


class Node:
    def __init__(self, before):
        self.before = before
        self.buffer = Buffer(64 * KIB)


def main():
    last = None
    for _ in range(40):
        last = Node(last)


main()
