# SPDX-License-Identifier: MIT
# GONE nobody: 40 x 64 KiB
"""A comprehension under way: no variable has its list yet."""

from simgpu import KIB, Buffer


def main():
    return len([Buffer(64 * KIB) for _ in range(40)])


main()
