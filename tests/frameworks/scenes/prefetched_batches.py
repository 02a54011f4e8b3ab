# SPDX-License-Identifier: MIT
"""A prefetcher keeps each batch that it moved to the device, so that none is freed during its copy."""
# leaky: fails at KEPT; verdict growing; kept by .in_flight (list)
# clean: passes
import collections
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"


class Prefetcher:
    def __init__(self, loader, device):
        self.loader = loader
        self.device = device
        self.in_flight = [] if LEAKY else collections.deque(maxlen=2)

    def __iter__(self):
        for images, labels in self.loader:
            images = images.to(self.device, non_blocking=True)  # KEPT
            labels = labels.to(self.device, non_blocking=True)
            self.in_flight.append((images, labels))
            yield images, labels


def main():
    data = torch.utils.data.TensorDataset(torch.randn(1920, 3, 32, 32), torch.zeros(1920, dtype=torch.long))
    loader = Prefetcher(torch.utils.data.DataLoader(data, batch_size=32, shuffle=True), "cuda")
    model = nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 128), nn.ReLU(), nn.Linear(128, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(2):
        for images, labels in loader:
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


main()
