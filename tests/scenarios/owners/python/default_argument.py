# SPDX-License-Identifier: MIT
# OWNER kept[*] (default argument of remember) in module __main__: 2 x 64 KiB, 128 KiB
"""The default argument that everyone falls for once."""

from simgpu import KIB, Buffer


def remember(buffer, kept=[]):
    kept.append(buffer)


for size in (64, 64, 128):
    remember(Buffer(size * KIB))
