# SPDX-License-Identifier: MIT
"""A function that has returned before the end kept 20 blocks in a list: snapshots as memory grew saw it."""

from simgpu import Buffer


def main():
    history = []
    for _ in range(20):
        history.append(Buffer(65536))
    while history:
        history.pop().free()


main()
