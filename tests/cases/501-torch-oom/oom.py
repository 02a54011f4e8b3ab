# SPDX-License-Identifier: MIT
"""On a device of 256 MiB: a request that fits once the cache is emptied, then one that never fits."""

import json

from standin import OutOfMemory, Tensor, stats

MIB = 1 << 20
cached = [Tensor(40 * MIB) for _ in range(5)]
kept = cached.pop()
del cached
recovered = Tensor(150 * MIB)
print(json.dumps(stats()))
try:
    Tensor(300 * MIB)
except OutOfMemory:
    print(json.dumps(stats()))
