# SPDX-License-Identifier: MIT
"""The outputs of every step are kept for the accuracy at the end, until the card is full."""
# leaky: cause capacity at KEPT; fails at KEPT; verdict growing; advice detach; says the leak held; kept by history (list) in __main__
# clean: passes
# sim: 512M
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"

model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1024)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
history = []

for step in range(200):
    features = torch.randn(1024, 256, device="cuda")
    target = torch.randint(1024, (1024,), device="cuda")
    output = model(features)  # KEPT
    loss = criterion(output, target)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    history.append(output if LEAKY else output.detach().argmax(dim=1).cpu())

print(f"{len(history)} steps")
