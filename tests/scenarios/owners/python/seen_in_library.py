# SPDX-License-Identifier: MIT
# OWNER nobody: 64 KiB
# LAST data of seen_library.so (seen_state)
# LIBRARY seen_library
"""A variable of a library that is installed."""

import ctypes
import os

from simgpu import KIB, address

ctypes.CDLL(os.environ["LIBRARY"]).seen_keep(ctypes.c_uint64(address(64 * KIB)))
