# SPDX-License-Identifier: MIT
# OWNER seen{*} in module __main__: 12 x 32 KiB
"""A set."""

from simgpu import KIB, Buffer

seen = set()
for _ in range(12):
    seen.add(Buffer(32 * KIB))
