# SPDX-License-Identifier: MIT
"""A program whose all is in main(): at its end a flag is left, and what one backward pass left in a caching allocator.
`CLEAN=1`: it keeps nothing."""

import os

from engine import ADDMM, Loss
from simgpu import KIB, Buffer, work


def step(history):
    work()
    history.append(Buffer(64 * KIB))
    if len(history) == 1:
        Loss((ADDMM, 0, 4 * KIB)).backward()
    if os.environ.get("CLEAN"):
        history[-1] = None


def main():
    history = []
    for _ in range(120):
        step(history)


flag = Buffer(KIB)
main()
os._exit(0)  # the engine's threads still run
