# SPDX-License-Identifier: MIT
"""A batch that is too large for the card: the activations of one forward pass fill it."""
# leaky: cause capacity at ACTIVATIONS; passes; says live memory held
# clean: passes
# sim: 512M
import sys

import torch
import torch.nn.functional as F
from torch import nn

LEAKY = sys.argv[1] == "leaky"
BATCH_SIZE = 512 if LEAKY else 16


class ConvNet(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 64, 3, stride=2, padding=1)
        self.conv3 = nn.Conv2d(64, 128, 3, stride=2, padding=1)
        self.head = nn.Linear(128, classes)

    def forward(self, x):
        x = F.relu(self.conv1(x))  # ACTIVATIONS
        x = F.relu(self.conv2(x))
        x = F.relu(self.conv3(x))
        return self.head(x.mean(dim=(2, 3)))


def train(steps):
    model = ConvNet().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(steps):
        images = torch.rand(BATCH_SIZE, 3, 64, 64).cuda()
        labels = torch.randint(10, (BATCH_SIZE,)).cuda()
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


train(steps=60)
