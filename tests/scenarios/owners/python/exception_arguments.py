# SPDX-License-Identifier: MIT
# OWNER errors[*].args[1] in module __main__: 2 x 64 KiB
"""Exceptions that carry a buffer."""

from simgpu import KIB, Buffer

errors = [ValueError("bad", Buffer(64 * KIB)) for _ in range(2)]
