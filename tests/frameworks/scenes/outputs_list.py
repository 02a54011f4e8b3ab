# SPDX-License-Identifier: MIT
"""Outputs kept in a list for the end-of-epoch metric."""
# leaky: fails at KEPT; verdict growing; advice detach; kept by outputs (list) in main()
# clean: passes
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"
device = torch.device("cuda")


def main():
    model = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 1000)).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    outputs = []
    for step in range(120):
        x = torch.randn(128, 512).to(device)
        y = torch.zeros(128, dtype=torch.long).to(device)
        out = model(x)  # KEPT
        loss = criterion(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        outputs.append(out if LEAKY else out.detach().cpu())
    print("outputs:", torch.cat(outputs).shape)


main()
