# SPDX-License-Identifier: MIT
"""total = total + loss: each sum holds the one before."""

from simgpu import KIB, Buffer, leaking, work


class Value:
    def __init__(self, parts=()):
        self.memory = Buffer(48 * KIB)  # LEAK
        self.parts = parts if leaking else ()

    def __add__(self, other):
        return Value((self, other))


def step():
    loss = Value()
    work()
    return loss


total = Value()
for _ in range(100):
    total = total + step()

