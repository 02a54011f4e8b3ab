# SPDX-License-Identifier: MIT
"""Ranks of torchrun --nnodes 2: each keeps a tensor on its machine's GPU."""

import os

import torch

kept = torch.empty(1 << 20, device=f"cuda:{os.environ['LOCAL_RANK']}")
