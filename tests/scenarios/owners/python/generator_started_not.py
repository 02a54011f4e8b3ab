# SPDX-License-Identifier: MIT
# OWNER buffer (local of waiting) in module __main__: 64 KiB
"""A generator that never began holds its arguments."""

from simgpu import KIB, Buffer


def consume(buffer):
    yield buffer.pointer


waiting = consume(Buffer(64 * KIB))
