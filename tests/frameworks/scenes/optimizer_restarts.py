# SPDX-License-Identifier: MIT
"""A new optimizer at each warm restart; the old ones stay in a list."""
# leaky: fails at KEPT; verdict growing; kept by optimizers (list) in main()
# clean: passes
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"
RESTARTS, STEPS = 24, 5


def train_cycle(model, optimizer):
    for _ in range(STEPS):
        x = torch.randn(64, 256, device="cuda")
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # KEPT


def main():
    model = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 256)).cuda()
    optimizers = []
    for restart in range(RESTARTS):
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3 / (restart + 1))
        if LEAKY:
            optimizers.append(optimizer)
        train_cycle(model, optimizer)
    print("cycles:", RESTARTS)


main()
