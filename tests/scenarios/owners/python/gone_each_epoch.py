# SPDX-License-Identifier: MIT
# GONE outputs[*] in frame epoch: 40 x 64 KiB
"""A list that each call of a function makes anew."""

from simgpu import KIB, Buffer


def epoch():
    outputs = []
    for _ in range(40):
        outputs.append(Buffer(64 * KIB))


for _ in range(3):
    epoch()
