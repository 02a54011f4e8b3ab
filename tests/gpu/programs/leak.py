# SPDX-License-Identifier: MIT
"""A training loop that keeps each loss with its graph, or (clean) its value."""
import sys

import torch

model = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.GELU(), torch.nn.Linear(2048, 512)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
losses = []


def train(x):
    loss = model(x).pow(2).mean()
    losses.append(loss if sys.argv[1] == "leaky" else loss.item())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


kept = []
for _ in range(300):
    x = torch.randn(256, 512, device="cuda")
    train(x)
    if sys.argv[1] == "leaky":
        kept.append(model(x))
