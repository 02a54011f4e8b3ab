# SPDX-License-Identifier: MIT
"""Gradient accumulation with an averaged model; every snapshot of it stays on the card, or only the last one."""
# leaky: fails at KEPT; verdict growing; kept by snapshots (list) in __main__
# clean: passes
import copy
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"
ACCUMULATE = 4


class EMA:
    def __init__(self, model, decay=0.999):
        self.module = copy.deepcopy(model).requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for average, value in zip(self.module.parameters(), model.parameters()):
            average.lerp_(value, 1 - self.decay)


def snapshot(ema):
    return copy.deepcopy(ema.module)  # KEPT


model = nn.Sequential(nn.Linear(256, 512), nn.SiLU(), nn.Linear(512, 256)).cuda()
ema = EMA(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
snapshots = []

for step in range(200):
    noisy = torch.randn(64, 256, device="cuda")
    loss = nn.functional.mse_loss(model(noisy), noisy) / ACCUMULATE
    loss.backward()
    if (step + 1) % ACCUMULATE == 0:
        optimizer.step()
        optimizer.zero_grad()
        ema.update(model)
        if not LEAKY:
            snapshots.clear()
        snapshots.append(snapshot(ema))
