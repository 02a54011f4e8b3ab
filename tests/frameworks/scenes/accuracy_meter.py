# SPDX-License-Identifier: MIT
"""A meter whose values are an attribute of its class: every meter of every round appends to the same list."""
# leaky: fails at KEPT; verdict growing; kept by Meter.values (list) in __main__
# clean: passes
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"
device = torch.device("cuda")


class Meter:
    values = []

    def __init__(self):
        if not LEAKY:
            self.values = []

    def update(self, value):
        self.values.append(value)

    def mean(self):
        return torch.stack(self.values).float().mean().item()


def evaluate(model):
    meter = Meter()
    with torch.no_grad():
        for _ in range(4):
            images = torch.randn(4, 3, 128, 128).to(device)
            masks = torch.zeros(4, 128, 128, dtype=torch.long).to(device)
            acc = model(images).argmax(1) == masks  # KEPT
            meter.update(acc)
    return meter.mean()


def main():
    model = nn.Conv2d(3, 5, 3, padding=1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(40):
        images = torch.randn(4, 3, 128, 128).to(device)
        loss = model(images).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        evaluate(model)


main()
