# SPDX-License-Identifier: MIT
"""The stand-in speaking as PyTorch's versions did: arguments era, and the device index to say (or -2: the truth)."""

import json
import sys

from standin import Tensor, cuda, profiler, stats

cuda.standin_era(int(sys.argv[1]))
cuda.standin_lie_about_device(int(sys.argv[2]))
kept = [Tensor(1000 * (n + 1), device) for n in range(20) for device in range(2)]
for n in range(10):
    Tensor(5000, 1)
print(json.dumps([stats(0), stats(1)]))
print(json.dumps(profiler()))
sys.stdout.flush()
import os

os._exit(0)  # what is live now is live at the end
