# SPDX-License-Identifier: MIT
# OWNER nobody: 3 x 64 KiB
"""Objects of which an extension forgot to drop its reference."""

import ctypes

from simgpu import KIB, Buffer


class Renderer:
    def __init__(self):
        self.frame = Buffer(64 * KIB)


for _ in range(3):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(Renderer()))
