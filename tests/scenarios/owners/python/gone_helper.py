# SPDX-License-Identifier: MIT
# GONE kept[*] in frame keep | history[*] in frame main: 40 x 64 KiB
"""A list of main() that a helper fills."""

from simgpu import KIB, Buffer


def keep(kept):
    kept.append(Buffer(64 * KIB))


def main():
    history = []
    for _ in range(40):
        keep(history)


main()
