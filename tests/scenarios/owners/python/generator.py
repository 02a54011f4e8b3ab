# SPDX-License-Identifier: MIT
# OWNER batch (local of batches) in module __main__: 64 KiB
# OWNER ahead[*] (local of batches) in module __main__: 2 x 32 KiB
"""A generator that waits in the middle, with locals."""

from simgpu import KIB, Buffer


def load():
    ahead = [Buffer(32 * KIB), Buffer(32 * KIB)]
    while ahead:
        batch = Buffer(64 * KIB)
        yield 1


batches = load()
next(batches)
