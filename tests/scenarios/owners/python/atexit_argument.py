# SPDX-License-Identifier: MIT
# MAYBE atexit in interpreter: 64 KiB
"""What a function is to be called with at the end."""

import atexit

from simgpu import KIB, Buffer


def close(buffer):
    return buffer


atexit.register(close, Buffer(64 * KIB))
