# SPDX-License-Identifier: MIT
"""torch.compile: Triton's kernels, forward and backward."""

import torch
from torch import nn


def main():
    model = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 10)).cuda()
    compiled = torch.compile(model)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(20):
        optimizer.zero_grad()
        compiled(torch.randn(32, 64, device="cuda")).pow(2).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
