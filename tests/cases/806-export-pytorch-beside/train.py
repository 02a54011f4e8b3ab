# SPDX-License-Identifier: MIT
"""A training loop that keeps some of its memory, ends in an out-of-memory error that it survives, and has PyTorch's own
snapshot written to its argument."""

import os
import pickle
import sys

import torch

torch.cuda.memory._record_memory_history(max_entries=1000000)
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 512)).cuda()
optimizer = torch.optim.Adam(net.parameters())
kept = []
for step in range(60):
    x = torch.randn(32 + step % 7 * 40, 512, device="cuda")
    loss = net(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        kept.append(torch.empty((step % 13 + 1) * 300000, device="cuda", dtype=torch.uint8))
    if step % 17 == 0:
        kept = kept[::2]
        torch.cuda.empty_cache()
try:
    torch.empty(100 << 30, device="cuda", dtype=torch.uint8)
except torch.OutOfMemoryError:
    pass
with open(sys.argv[1], "wb") as out:
    pickle.dump(torch.cuda.memory._snapshot(), out)
sys.stdout.flush()
os._exit(0)  # at once: an interpreter that finalizes would free
