# SPDX-License-Identifier: MIT
# OWNER used_by{*} in module __main__: 2 x 64 KiB, 128 KiB
"""Buffers that are a dictionary's keys."""

from simgpu import KIB, Buffer

used_by = {}
for size in (64, 64, 128):
    used_by[Buffer(size * KIB)] = "reader"
