# SPDX-License-Identifier: MIT
"""Two ranks, two devices, NCCL; run by torchrun."""

import os

import torch
import torch.distributed as dist
from torch import nn


def main():
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 10)).cuda(),
                                                device_ids=[torch.cuda.current_device()])
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(20):
        optimizer.zero_grad()
        model(torch.randn(32, 256, device="cuda")).sum().backward()
        optimizer.step()
    gathered = [torch.zeros(1, dtype=torch.int64, device="cuda") for _ in range(2)]
    dist.all_gather(gathered, torch.tensor([7]).cuda())
    assert [int(t) for t in gathered] == [7, 7], gathered
    dist.barrier()
    print("rank", dist.get_rank(), "of", dist.get_world_size())
    dist.destroy_process_group()


main()
