# SPDX-License-Identifier: MIT
"""The validation loss summed over all batches, without no_grad."""
# leaky: fails at KEPT; verdict growing; advice no_grad; kept by total (torch.Tensor) in validate()
# clean: passes
import sys

import torch
from torch import nn
from torch.nn import functional as F

LEAKY = sys.argv[1] == "leaky"
device = torch.device("cuda")


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(256, 2048)
        self.fc2 = nn.Linear(2048, 10)

    def forward(self, x):
        x = F.relu(self.fc1(x))  # KEPT
        return self.fc2(x)


def batches(count):
    for _ in range(count):
        yield torch.randn(128, 256).to(device), torch.zeros(128, dtype=torch.long).to(device)


def train(model, optimizer):
    model.train()
    for x, y in batches(20):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def validate(model):
    model.eval()
    total = 0
    for x, y in batches(100):
        total += F.cross_entropy(model(x), y)
    return total / 100


def main():
    model = Classifier().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    train(model, optimizer)
    if LEAKY:
        val_loss = validate(model)
    else:
        with torch.no_grad():
            val_loss = validate(model)
    print("val loss", float(val_loss))


main()
