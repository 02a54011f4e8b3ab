# SPDX-License-Identifier: MIT
"""A model that is too large for the card in float32, and fits in float16."""
# leaky: cause capacity at MODEL; passes; says live memory held
# clean: passes
# sim: 512M
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


def load(dtype):
    model = nn.Sequential(*(Block(1024) for _ in range(20)))
    return model.to("cuda", dtype).eval()  # MODEL


dtype = torch.float32 if LEAKY else torch.float16
model = load(dtype)
with torch.inference_mode():
    for _ in range(60):
        hidden = torch.randn(8, 128, 1024, dtype=dtype, device="cuda")
        scores = model(hidden).mean(dim=1).cpu()
