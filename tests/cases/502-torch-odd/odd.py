# SPDX-License-Identifier: MIT
"""Reports that no allocator should make."""

import json
import os
import sys

from standin import Tensor, cuda, profiler, stats

CPU, CUDA, XPU = 0, 1, 12
kept = Tensor(100000)
cuda.standin_say(0x1000000, 4096, CPU, -1)           # not the GPU's
cuda.standin_say(0x1000000, -4096, CPU, -1)
cuda.standin_say(0x2000000, 4096, XPU, 0)            # another GPU's
cuda.standin_say(0xdead000, 8192, CUDA, 0)           # a block outside any segment
cuda.standin_say(0xbeef000, -512, CUDA, 0)           # a free of what was never allocated
cuda.standin_say(kept.address, 51200, CUDA, 0)       # a block where one is live: it replaces it
cuda.standin_say(None, 512, CUDA, 0)                 # nothing
cuda.standin_say(0xdead000, 0, CUDA, 0)              # nothing either
print(json.dumps([kept.address, stats(), profiler()]))
sys.stdout.flush()
os._exit(0)
