# SPDX-License-Identifier: MIT
"""A training whose all is in main(): nothing of it is left when Python ends."""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(64, 64) for _ in range(12))

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


def main():
    model = Net().cuda()
    optimizer = torch.optim.Adam(model.parameters())
    outputs = []
    for _ in range(200):
        output = model(torch.randn(32, 64, device="cuda"))
        optimizer.zero_grad()
        output.sum().backward()
        optimizer.step()
        outputs.append(output.detach())


main()
