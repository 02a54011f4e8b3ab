# SPDX-License-Identifier: MIT
"""Tries again, with less, in the except block: the exception still holds what the first try had got."""

from simgpu import MIB, Buffer


def forward(size):
    a = Buffer(size * MIB)
    b = Buffer(size * MIB)
    return a, b


def train():
    try:
        return forward(600)
    except MemoryError:
        return forward(300)


train()
