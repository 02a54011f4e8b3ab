# SPDX-License-Identifier: MIT
"""A result a step is all that is ever on the device: looked at and dropped, or all of them kept in a list. The steps
are marked: else nothing would tell the results from weights that are loaded."""

from simgpu import KIB, Buffer, leaking, phase

results = []
for step in range(150):
    with phase("step"):
        result = Buffer(300 * KIB)  # LEAK
        if leaking:
            results.append(result)
