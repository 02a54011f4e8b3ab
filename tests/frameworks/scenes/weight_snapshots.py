# SPDX-License-Identifier: MIT
"""A copy of the weights kept for each epoch, or for the newest only."""
# leaky: fails at KEPT; verdict growing; kept by snapshots (list) in main()
# clean: passes
import copy
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"
EPOCHS = 30


def train_epoch(model, optimizer):
    for _ in range(4):
        x = torch.randn(32, 256, device="cuda")
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main():
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 128)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    snapshots = []
    for epoch in range(EPOCHS):
        train_epoch(model, optimizer)
        weights = copy.deepcopy(model.state_dict())  # KEPT
        if not LEAKY:
            snapshots.clear()
        snapshots.append(weights)
    model.load_state_dict(snapshots[-1])


main()
