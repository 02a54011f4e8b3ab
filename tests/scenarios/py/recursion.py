# SPDX-License-Identifier: MIT
"""One line, reached at many depths, keeps what it makes at each."""

from simgpu import KIB, Buffer, leaking, work

tree = []


def build(depth):
    if depth:
        return build(depth - 1)
    node = Buffer(64 * KIB)  # LEAK
    return tree.append(node) if leaking else None


for i in range(300):
    build(i * 7 % 40)
    work()
