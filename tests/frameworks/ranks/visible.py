# SPDX-License-Identifier: MIT
"""Ranks of torchrun --virtual-local-rank: each sees one GPU, its own, as device 0, and has LOCAL_RANK=0."""

import os

import torch

assert os.environ["LOCAL_RANK"] == "0" and torch.cuda.device_count() == 1, os.environ["CUDA_VISIBLE_DEVICES"]
kept = torch.empty(1 + int(os.environ["RANK"]), 1 << 20, device="cuda")
