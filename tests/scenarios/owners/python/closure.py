# SPDX-License-Identifier: MIT
# OWNER kept[*] (closure of step) in module __main__: 3 x 64 KiB
"""A function that keeps a variable of the one around it."""

from simgpu import KIB, Buffer


def make_step():
    kept = []

    def step():
        kept.append(Buffer(64 * KIB))

    return step


step = make_step()
for _ in range(3):
    step()
