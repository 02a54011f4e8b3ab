# SPDX-License-Identifier: MIT
"""Two ranks train one model; rank 0 keeps each output for its log, with its graph, or only the mean as a number."""
# leaky: fails at KEPT; verdict growing; advice detach; kept by log (list) in train()
# clean: passes
# torchrun: 2
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

LEAKY = sys.argv[1] == "leaky"


def train(rank, steps):
    device = torch.device("cuda", rank)
    net = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 128)).to(device)
    model = DistributedDataParallel(net, device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    log = []
    for _ in range(steps):
        inputs = torch.randn(128, 512, device=device)
        output = model(inputs)  # KEPT
        loss = output.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if dist.get_rank() == 0:
            log.append(output if LEAKY else output.mean().item())
    dist.barrier()


local_rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local_rank)
dist.init_process_group("nccl")
train(local_rank, steps=80)
dist.destroy_process_group()
