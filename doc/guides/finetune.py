# SPDX-License-Identifier: MIT
"""Fine-tuning of a model of 300 million parameters on text, for which-card.md."""

import argparse

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.before = nn.LayerNorm(width)
        self.mix = nn.Linear(width, 3 * width)
        self.grow = nn.Linear(width, 4 * width)
        self.shrink = nn.Linear(4 * width, width)

    def forward(self, x):
        query, key, value = self.mix(self.before(x)).chunk(3, dim=-1)
        weights = (query @ key.transpose(1, 2)).softmax(dim=-1)
        return x + self.shrink(nn.functional.gelu(self.grow(weights @ value)))


class Model(nn.Module):
    def __init__(self, words=32000, width=1024, layers=24):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.layers = nn.ModuleList(Block(width) for _ in range(layers))
        self.scores = nn.Linear(width, words)

    def forward(self, tokens):
        x = self.words(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.scores(x)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--steps", type=int, default=1000)
    options.add_argument("--batch", type=int, default=8)
    options = options.parse_args()
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(options.steps):
        batch = torch.zeros(options.batch, 513, dtype=torch.long, device="cuda")
        logits = model(batch[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
