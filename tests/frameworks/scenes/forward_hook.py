# SPDX-License-Identifier: MIT
"""A forward hook that keeps every activation instead of the last one."""
# leaky: fails at KEPT; verdict growing; kept by activations (collections.defaultdict of lists) in __main__
# clean: passes
import collections
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"
device = torch.device("cuda")
activations = collections.defaultdict(list)


def save_activation(name):
    def hook(module, inputs, output):
        if LEAKY:
            activations[name].append(output.detach())
        else:
            activations[name] = [output.detach()]
    return hook


def main():
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(32, 10)).to(device)
    model[0].register_forward_hook(save_activation("conv1"))
    model[3].register_forward_hook(save_activation("conv2"))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(80):
        images = torch.randn(16, 3, 32, 32, device=device)
        labels = torch.zeros(16, dtype=torch.long, device=device)
        out = model(images)  # KEPT
        loss = criterion(out, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
