# SPDX-License-Identifier: MIT
# GONE kept[*] in frame steps: 40 x 64 KiB
"""A generator's list, while it runs in a loop of main()."""

from simgpu import KIB, Buffer


def steps():
    kept = []
    for _ in range(40):
        kept.append(Buffer(64 * KIB))
        yield len(kept)


def main():
    return sum(steps())


main()
