# SPDX-License-Identifier: MIT
# OWNER stream[*] in module __main__: 3 x 64 KiB
"""An iterator over a list that nobody else has."""

from simgpu import KIB, Buffer

stream = iter([Buffer(64 * KIB) for _ in range(3)])
next(stream)
