# SPDX-License-Identifier: MIT
"""A copy of the weights for each checkpoint; the best one is kept, or all."""

from simgpu import MIB, Buffer, leaking, work

best = []
for step in range(400):
    work()
    if step % 20 == 19:
        copy = Buffer(2 * MIB)  # LEAK
        if not leaking:
            best.clear()
        best.append(copy)
