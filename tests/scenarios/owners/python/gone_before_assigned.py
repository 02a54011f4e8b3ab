# SPDX-License-Identifier: MIT
# GONE nobody: 40 x 64 KiB
"""The arguments of a call are made before it has a frame."""

from simgpu import KIB, Buffer


def count(*buffers):
    return len(buffers)


def main():
    return count(*(Buffer(64 * KIB) for _ in range(40)))


main()
