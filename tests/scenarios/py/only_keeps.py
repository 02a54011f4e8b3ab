# SPDX-License-Identifier: MIT
"""A result a step is all that is ever on the device: looked at and dropped, or all of them kept in a list."""

from simgpu import KIB, Buffer, leaking

results = []
for step in range(150):
    result = Buffer(300 * KIB)  # LEAK
    if leaking:
        results.append(result)
