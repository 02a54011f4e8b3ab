# SPDX-License-Identifier: MIT
"""bank = append(bank, features), 30 times; or as many batches that are sorted by length."""

from simgpu import KIB, Buffer, leaking, work

bank = None


def append(size):
    return Buffer(size)  # LEAK


def batch(size):
    return Buffer(size)


for step in range(30):
    size = (step + 16) * 64 * KIB
    bank = append(size) if leaking else batch(size)
    work()
