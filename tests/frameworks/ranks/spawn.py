# SPDX-License-Identifier: MIT
"""Ranks of torch.multiprocessing.spawn, which tells no one: each sets RANK itself, before it uses CUDA, or (with an argument) after."""

import os
import sys

import torch

LATE = len(sys.argv) > 1


def work(rank, world_size):
    kept = torch.empty(1 << 20, device="cuda") if LATE else None
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(world_size), MASTER_ADDR="127.0.0.1", MASTER_PORT="29555")
    kept = kept, torch.empty(1 << 20, device=f"cuda:{rank % 2}")


if __name__ == "__main__":
    torch.multiprocessing.spawn(work, args=(3,), nprocs=3)
