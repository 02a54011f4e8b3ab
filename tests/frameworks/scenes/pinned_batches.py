# SPDX-License-Identifier: MIT
"""A data loader pins its batches; they are kept in pinned host memory, for a gallery, or only their indices."""
# leaky: fails at KEPT; verdict growing; kept by gallery (list) in __main__
# clean: passes
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

LEAKY = sys.argv[1] == "leaky"


class Pictures(Dataset):
    def __len__(self):
        return 1600

    def __getitem__(self, index):
        return torch.rand(3, 64, 64), index % 10, index


model = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))
model = model.cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
gallery = []

for pictures, labels, indices in DataLoader(Pictures(), batch_size=16, pin_memory=True):  # KEPT
    x = pictures.cuda(non_blocking=True)
    y = labels.cuda(non_blocking=True)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    gallery.append(pictures if LEAKY else indices.tolist())
