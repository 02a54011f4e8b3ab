# SPDX-License-Identifier: MIT
# OWNER staging in module __main__: 64 KiB
# ALONE
"""A process of multiprocessing: its main module has a second name."""

import sys

from simgpu import KIB, Buffer

sys.modules["__mp_main__"] = sys.modules["__main__"]
staging = Buffer(64 * KIB)
