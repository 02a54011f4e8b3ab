# SPDX-License-Identifier: MIT
# OWNER losses[*] in frame main: 2 x 64 KiB
"""A local that an inner function uses too."""

import os

from simgpu import KIB, Buffer


def main():
    losses = []

    def step():
        losses.append(Buffer(64 * KIB))

    step()
    step()
    os._exit(0)


main()
