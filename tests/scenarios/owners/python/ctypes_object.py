# SPDX-License-Identifier: MIT
# OWNER keepers[*] in module __main__: 3 x 32 KiB
"""py_object cells of ctypes."""

import ctypes

from simgpu import KIB, Buffer

keepers = [ctypes.py_object(Buffer(32 * KIB)) for _ in range(3)]
