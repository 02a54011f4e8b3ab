# SPDX-License-Identifier: MIT
"""Training fits, validation does not: each loss in its list holds the graph of its batch."""
# leaky: cause capacity at KEPT; fails at KEPT; verdict growing; advice no_grad; says the leak held; kept by losses (list) in validate()
# clean: passes
# sim: 512M
import contextlib
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"


def batches(count, size):
    for _ in range(count):
        yield torch.randn(size, 512, device="cuda"), torch.randn(size, 64, device="cuda")


def train_epoch(model, criterion, optimizer):
    model.train()
    for inputs, targets in batches(50, 128):
        optimizer.zero_grad()
        criterion(model(inputs), targets).backward()
        optimizer.step()


def validate(model, criterion):
    model.eval()
    losses = []
    with contextlib.nullcontext() if LEAKY else torch.no_grad():
        for inputs, targets in batches(100, 512):
            prediction = model(inputs)  # KEPT
            losses.append(criterion(prediction, targets))
    return torch.stack(losses).mean().item()


model = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 64)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
criterion = nn.MSELoss()
for epoch in range(3):
    train_epoch(model, criterion, optimizer)
    print(f"epoch {epoch}: validation loss {validate(model, criterion):.3f}")
