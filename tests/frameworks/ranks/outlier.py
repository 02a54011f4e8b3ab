# SPDX-License-Identifier: MIT
"""Ranks of torchrun train one model on the GPUs of their machine, more ranks than GPUs; rank 5 keeps its outputs."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

hoard = []


def train(device, steps):
    net = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 128)).to(device)
    model = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(steps):
        output = model(torch.randn(128, 512, device=device))
        loss = output.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if dist.get_rank() == 5:
            hoard.append(output.detach().clone())  # KEPT


if __name__ == "__main__":
    dist.init_process_group("gloo")
    local_rank = int(os.environ["LOCAL_RANK"])
    train(torch.device("cuda", local_rank % torch.cuda.device_count()), steps=40)
    dist.barrier()
    dist.destroy_process_group()
