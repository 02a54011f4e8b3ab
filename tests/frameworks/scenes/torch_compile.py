# SPDX-License-Identifier: MIT
"""A compiled model; its caller keeps the embeddings of each batch on the card with their graphs, or on the host."""
# leaky: fails at KEPT; verdict growing; advice detach; kept by embeddings (list) in __main__
# clean: passes
# needs: triton
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"


class Encoder(nn.Module):
    def __init__(self, width=256, out=128):
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, out)

    def forward(self, x):
        return nn.functional.normalize(self.down(nn.functional.gelu(self.up(x))), dim=-1)


encoder = Encoder().cuda()
optimizer = torch.optim.AdamW(encoder.parameters(), lr=1e-3)
embed = torch.compile(encoder)
embeddings = []

for step in range(80):
    batch = torch.randn(256, 256, device="cuda")
    left = embed(batch)  # KEPT
    right = embed(batch + 0.1 * torch.randn_like(batch))
    loss = (1 - (left * right).sum(dim=-1)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    embeddings.append(left if LEAKY else left.detach().cpu())
