# SPDX-License-Identifier: MIT
# GONE history[*] in frame main: 40 x 64 KiB
"""A list in main(), which has returned at the end."""

from simgpu import KIB, Buffer


def main():
    history = []
    for _ in range(40):
        history.append(Buffer(64 * KIB))


main()
