# SPDX-License-Identifier: MIT
# GONE first[*] in frame prepare: 20 x 64 KiB
# GONE second[*] in frame train: 40 x 32 KiB
"""Two functions, one after the other, each with a list."""

from simgpu import KIB, Buffer


def prepare():
    first = []
    for _ in range(20):
        first.append(Buffer(64 * KIB))


def train():
    second = []
    for _ in range(40):
        second.append(Buffer(32 * KIB))


prepare()
train()
