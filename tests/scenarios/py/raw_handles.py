# SPDX-License-Identifier: MIT
"""Addresses as plain numbers, freed by hand; the numbers of every fourth are dropped."""

from simgpu import KIB, Buffer, leaking, work

for i in range(160):
    buffer = Buffer(64 * KIB, owner=not (leaking and i % 4 == 0))  # LEAK
    work()
    del buffer
