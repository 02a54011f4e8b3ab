# SPDX-License-Identifier: MIT
"""The loss of each batch appended with its graph, to look for hard examples; nobody calls backward."""
# leaky: fails at KEPT; verdict growing; advice item; kept by losses (list) in __main__
# clean: passes
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"
device = "cuda"

model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)).to(device)
criterion = nn.CrossEntropyLoss()
losses = []
for i in range(150):
    images = torch.randn(64, 784).to(device)
    labels = torch.zeros(64, dtype=torch.long).to(device)
    loss = criterion(model(images), labels)  # KEPT
    if LEAKY:
        losses.append(loss)
    else:
        losses.append(loss.item())
print("hardest:", max(range(150), key=lambda i: float(losses[i])))
