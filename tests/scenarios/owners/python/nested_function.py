# SPDX-License-Identifier: MIT
# OWNER buffer (closure of steps[*]) in module __main__: 3 x 32 KiB
"""Functions made in a loop, each with a variable of its own."""

from simgpu import KIB, Buffer


def make(buffer):
    def step():
        return buffer

    return step


steps = [make(Buffer(32 * KIB)) for _ in range(3)]
