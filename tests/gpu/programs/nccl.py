# SPDX-License-Identifier: MIT
"""NCCL with one rank: a communicator and reductions; what it takes outside PyTorch's allocator."""
import os

import torch
import torch.distributed as dist

os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=os.environ.get("PORT", "29531"), RANK="0", WORLD_SIZE="1")
torch.cuda.set_device(0)
dist.init_process_group("nccl")
x = torch.ones(1 << 22, device="cuda")
for _ in range(20):
    dist.all_reduce(x)
torch.cuda.synchronize()
dist.destroy_process_group()
