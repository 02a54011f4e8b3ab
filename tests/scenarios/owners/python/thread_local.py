# SPDX-License-Identifier: MIT
# OWNER local.scratch in module __main__: 64 KiB
# OWNER local.recent[*] in module __main__: 2 x 32 KiB
"""threading.local, of the main thread."""

import threading

from simgpu import KIB, Buffer

local = threading.local()
local.scratch = Buffer(64 * KIB)
local.recent = [Buffer(32 * KIB), Buffer(32 * KIB)]
