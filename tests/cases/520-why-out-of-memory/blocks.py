# SPDX-License-Identifier: MIT
"""Scenes of running out of memory inside a caching allocator: the argument names the scene."""

import sys

from standin import OutOfMemory, Tensor

MIB = 1 << 20


def board(kept_every):
    kept, gone = [], []
    for n in range(96):
        if n % kept_every == 0:
            kept.append(Tensor(2 * MIB))  # the pin
        else:
            gone.append(Tensor(2 * MIB))
    return kept


def fill():
    return [Tensor(30 * MIB) for _ in range(6)]


scene = sys.argv[1]
if scene == "checkerboard":
    held = board(10)
    wanted = 120
elif scene == "full":
    held = fill()
    wanted = 100
elif scene == "checkerboard-too-large":
    held = board(10)
    wanted = 250
elif scene == "recovered":
    cached = fill()
    held = cached.pop()
    del cached
    wanted = 150
try:
    Tensor(wanted * MIB)
except OutOfMemory:
    sys.exit(1)
