# SPDX-License-Identifier: MIT
"""Batches sorted by length: each one is a little longer than the one before; their token ids are kept, or not."""
# leaky: fails at KEPT; verdict growing; kept by seen (list) in main()
# clean: passes
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"
device = torch.device("cuda")


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5000, 64)
        self.head = nn.Linear(64, 16)

    def forward(self, ids):
        return self.head(self.embed(ids))


def sorted_batches():
    for length in range(64, 264, 2):
        yield torch.zeros(128, length, dtype=torch.long)


def main():
    model = Tagger().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    seen = []
    for batch in sorted_batches():
        ids = batch.to(device)  # KEPT
        loss = model(ids).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen.append(ids if LEAKY else ids.shape)
    print("batches:", len(seen))


main()
