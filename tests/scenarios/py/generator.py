# SPDX-License-Identifier: MIT
"""A generator that is abandoned half-way keeps its locals while it is referred to."""

from simgpu import KIB, Buffer, leaking, work

streams = []


def stream():
    state = Buffer(128 * KIB)  # LEAK
    yield id(state)
    yield id(state)


for _ in range(120):
    s = stream()
    next(s)
    work()
    if leaking:
        streams.append(s)
