# SPDX-License-Identifier: MIT
# OWNER render.cache[*] in module __main__: 2 x 64 KiB
"""An attribute of a function."""

from simgpu import KIB, Buffer


def render(number):
    if number not in render.cache:
        render.cache[number] = Buffer(64 * KIB)
    return render.cache[number]


render.cache = {}
render(1)
render(2)
