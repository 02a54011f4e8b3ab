# SPDX-License-Identifier: MIT
"""Outputs of a training loop kept for a plot."""
# leaky: fails at KEPT; verdict growing; advice detach; kept by history (list)
# clean: passes
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 128))

    def forward(self, x):
        return self.body(x).tanh()  # KEPT


def train(model, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    history = []
    for _ in range(steps):
        x = torch.randn(256, 128, device="cuda")
        out = model(x)
        loss = (out - x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(out if LEAKY else out.detach().cpu())
    return history


history = train(Net().cuda(), 100)
print(len(history))
