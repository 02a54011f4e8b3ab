# SPDX-License-Identifier: MIT
"""long.py STEPS: trains a small model, and validates it every hundred steps. The losses of the validation are kept, with their graphs."""

import sys

import torch
from torch import nn
from torch.nn import functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.word, self.norm = nn.Embedding(256, 64), nn.LayerNorm(64)
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64)) for _ in range(4))
        self.head = nn.Linear(64, 256)

    def forward(self, tokens):
        x = self.word(tokens)
        for layer in self.layers:
            x = x + layer(self.norm(x))
        return self.head(x)


def loss_of(model):
    tokens = torch.randint(0, 256, (8, 33), device="cuda")
    logits = model(tokens[:, :-1])
    return F.cross_entropy(logits.reshape(-1, 256), tokens[:, 1:].reshape(-1))


def main():
    model = Model().cuda()
    optimizer = torch.optim.Adam(model.parameters())
    history = []
    for step in range(int(sys.argv[1])):
        loss = loss_of(model)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 99:
            history.append(loss_of(model))
    print("steps:", sys.argv[1])


main()
