# SPDX-License-Identifier: MIT
"""A memory bank of embeddings, a buffer that torch.cat makes longer, without a bound or with one; few rounds."""
# leaky: fails at KEPT; verdict growing; kept by model.bank
# clean: passes
import sys

import torch
from torch import nn
from torch.nn import functional as F

LEAKY = sys.argv[1] == "leaky"
BANK = 512


class Contrastive(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, width))
        self.register_buffer("bank", torch.zeros(128, width))

    def forward(self, x):
        z = F.normalize(self.encoder(x), dim=1)
        loss = F.cross_entropy(z @ self.bank.t() / 0.07, torch.zeros(len(z), dtype=torch.long, device=z.device))
        self.remember(z.detach())
        return loss

    def remember(self, z):
        bank = torch.cat([self.bank, z])  # KEPT
        self.bank = bank if LEAKY else bank[-BANK:]


def main():
    model = Contrastive().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(40):
        loss = model(torch.randn(128, 256, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("bank:", tuple(model.bank.shape))


main()
