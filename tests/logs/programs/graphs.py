# SPDX-License-Identifier: MIT
"""PyTorch: a sum of five losses and a list of three, with their autograd graphs."""

import torch

model = torch.nn.Linear(64, 64, device="cuda")
total, losses = 0, []
for step in range(8):
    loss = model(torch.ones(64, 64, device="cuda")).sum()
    if step < 5:
        total = total + loss
    else:
        losses.append(loss)
