# SPDX-License-Identifier: MIT
# OWNER nobody: 12 x 64 KiB
"""An extension took a reference to a list, and no variable has it any more."""

import ctypes

from simgpu import KIB, Buffer

taken = ctypes.create_string_buffer(64)


def take(item):
    """What PyList_Append's caller in C does that keeps the pointer in its own memory."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(item))
    ctypes.memmove(taken, ctypes.byref(ctypes.c_void_p(id(item))), 8)


take([Buffer(64 * KIB) for _ in range(12)])
