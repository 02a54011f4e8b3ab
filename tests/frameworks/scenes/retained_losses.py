# SPDX-License-Identifier: MIT
"""Two backward passes over one graph (retain_graph), and the losses kept: with each of them its graph."""
# leaky: fails at KEPT; verdict growing; advice detach; kept by history (list) in main()
# clean: passes
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 64))
        self.decoder = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 784))

    def forward(self, x):
        code = self.encoder(x)
        return self.decoder(code), code  # KEPT


def main():
    model = AutoEncoder().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    history = []
    for step in range(80):
        x = torch.randn(128, 784).cuda()
        restored, code = model(x)
        reconstruction = nn.functional.mse_loss(restored, x)
        sparsity = code.abs().mean()
        optimizer.zero_grad()
        reconstruction.backward(retain_graph=True)
        sparsity.backward(retain_graph=True)
        optimizer.step()
        if LEAKY:
            history.append((reconstruction, sparsity))
        else:
            history.append((reconstruction.item(), sparsity.item()))
    print("steps:", len(history))


main()
