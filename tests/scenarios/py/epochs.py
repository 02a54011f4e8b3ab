# SPDX-License-Identifier: MIT
"""Marked epochs of several steps; the outputs of each are collected, and the list is emptied, or is not."""

from simgpu import MIB, Buffer, leaking, phase, work

outputs = []
for epoch in range(8):
    with phase("epoch"):
        for step in range(12):
            with phase("step"):
                work()
                out = Buffer(MIB)  # LEAK
                outputs.append(out)
        if not leaking:
            outputs.clear()
del out
outputs.clear()
