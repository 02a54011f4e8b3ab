# SPDX-License-Identifier: MIT
# GONE kept[*] in frame main.<locals>.step | kept[*] in frame step | kept[*] in frame main: 40 x 64 KiB
"""A variable that main() shares with a function in it."""

from simgpu import KIB, Buffer


def main():
    kept = []

    def step():
        kept.append(Buffer(64 * KIB))

    for _ in range(40):
        step()


main()
