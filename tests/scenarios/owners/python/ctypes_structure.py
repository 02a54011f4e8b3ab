# SPDX-License-Identifier: MIT
# OWNER params in module __main__: 64 KiB, 8 KiB
"""Addresses in a ctypes structure, as it is handed to a kernel."""

import ctypes

from simgpu import KIB, address


class Params(ctypes.Structure):
    _fields_ = [("count", ctypes.c_int), ("weights", ctypes.c_void_p), ("bias", ctypes.c_void_p)]


params = Params(7, address(64 * KIB), address(8 * KIB))
