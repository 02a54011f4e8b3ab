# SPDX-License-Identifier: MIT
"""Allocates and frees through PyTorch's own CUDA allocator; after each of 1,000 points it sets a mark and notes
torch.cuda's counters, which it prints at the end. Nothing is computed: it runs on the simulated GPU too."""

import ctypes
import json
import random

import torch

mark = ctypes.CDLL(None).vramtrace_v1_mark
rng, kept, counters = random.Random(1), [], []
for number in range(1000):
    kept.append(torch.empty(rng.choice((1, 300, 70000, 1 << 18, 1 << 20, 5 << 20)), device="cuda"))
    while len(kept) > 30 or (kept and rng.random() < 0.4):
        kept.pop(rng.randrange(len(kept)))
    mark(b"%d" % number)
    counters.append([torch.cuda.memory_allocated(), torch.cuda.memory_reserved()])
print(json.dumps(counters))
