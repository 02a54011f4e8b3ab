# SPDX-License-Identifier: MIT
"""Clones of all gradients kept for a later look at their norms."""
# leaky: fails at KEPT; verdict growing; kept by history (list) in main()
# clean: passes
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"


def main():
    model = nn.Sequential(nn.Linear(128, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 10)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    history = []
    for step in range(100):
        x = torch.randn(64, 128).cuda()
        y = torch.zeros(64, dtype=torch.long).cuda()
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        grads = [p.grad.clone() for p in model.parameters()]  # KEPT
        optimizer.step()
        if LEAKY:
            history.append(grads)
        else:
            history.append([g.norm().item() for g in grads])
    print("steps:", len(history))


main()
