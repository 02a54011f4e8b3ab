# SPDX-License-Identifier: MIT
"""Outputs of the second half of a window are kept, and so is its first half: views that see all that they keep."""
# leaky: fails at KEPT; verdict growing; advice keep .detach().cpu() of each in `halves`; kept by halves (list)
# clean: passes
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"
WIDTH = 256


def main():
    encoder = nn.GRU(WIDTH, WIDTH, batch_first=True).cuda()
    halves = []
    with torch.no_grad():
        for _ in range(60):
            states, _ = encoder(torch.randn(8, 128, WIDTH, device="cuda"))  # KEPT
            for half in states.chunk(2, dim=1):
                halves.append(half if LEAKY else half.mean().item())
    print(len(halves))


main()
