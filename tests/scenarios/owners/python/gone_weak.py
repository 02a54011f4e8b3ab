# SPDX-License-Identifier: MIT
# GONE strong[*] in frame main: 40 x 64 KiB
"""A weak list beside the one that holds."""

import weakref

from simgpu import KIB, Buffer


def main():
    seen, strong = [], {}
    for key in range(40):
        buffer = strong.setdefault(key, Buffer(64 * KIB))
        seen.append(weakref.ref(buffer))
        del buffer


main()
