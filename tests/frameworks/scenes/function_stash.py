# SPDX-License-Identifier: MIT
"""A custom autograd function that puts its inputs on the class, in place of its context."""
# leaky: fails at KEPT; verdict growing; kept by Swish.inputs (list) in __main__
# clean: passes
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"


class Swish(torch.autograd.Function):
    inputs = []

    @staticmethod
    def forward(ctx, x):
        if LEAKY:
            Swish.inputs.append(x)
            ctx.index = len(Swish.inputs) - 1
        else:
            ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, grad):
        x = Swish.inputs[ctx.index] if LEAKY else ctx.saved_tensors[0]
        s = torch.sigmoid(x)
        return grad * (s + x * s * (1 - s))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        h = self.up(x)  # KEPT
        return x + self.down(Swish.apply(h))


def main():
    model = nn.Sequential(Block(128), Block(128), nn.Linear(128, 10)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(90):
        x = torch.randn(64, 128, device="cuda")
        y = torch.zeros(64, dtype=torch.long, device="cuda")
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
