# SPDX-License-Identifier: MIT
# GONE cache[*] in frame main: 40 x 64 KiB
"""A dict in main()."""

from simgpu import KIB, Buffer


def main():
    cache = {}
    for key in range(40):
        cache[key] = Buffer(64 * KIB)


main()
