# SPDX-License-Identifier: MIT
# OWNER shapes[*] in module __main__: 2 x 64 KiB
# OWNER nested[1][*] in module __main__: 2 x 128 KiB
"""Tuples."""

from simgpu import KIB, Buffer

shapes = (Buffer(64 * KIB), Buffer(64 * KIB))
nested = ("weights", (Buffer(128 * KIB), Buffer(128 * KIB)))
