# SPDX-License-Identifier: MIT
# OWNER requests[*][*] in module __main__: 300 x 64 KiB
"""Contexts with so many variables that their trees have nodes of all three kinds."""

import contextvars

from simgpu import KIB, Buffer

variables = [contextvars.ContextVar(f"buffer {number}") for number in range(100)]
requests = [contextvars.Context() for _ in range(3)]
for request in requests:
    for variable in variables:
        request.run(variable.set, Buffer(64 * KIB))
del request
