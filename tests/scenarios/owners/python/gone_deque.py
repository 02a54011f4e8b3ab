# SPDX-License-Identifier: MIT
# GONE ring[*] in frame main: 40 x 64 KiB
"""A deque in main()."""

import collections

from simgpu import KIB, Buffer


def main():
    ring = collections.deque()
    for _ in range(40):
        ring.append(Buffer(64 * KIB))


main()
