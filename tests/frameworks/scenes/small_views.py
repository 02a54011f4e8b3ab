# SPDX-License-Identifier: MIT
"""A sentence's embedding is its last token's hidden state: a view of those of all tokens, or a copy."""
# leaky: fails at KEPT; verdict growing; advice .clone() of each; kept by embeddings (list)
# clean: passes
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"
WIDTH = 256


def main():
    encoder = nn.GRU(WIDTH, WIDTH, batch_first=True).cuda()
    embeddings = []
    with torch.no_grad():
        for _ in range(60):
            states, _ = encoder(torch.randn(8, 128, WIDTH, device="cuda"))  # KEPT
            last = states[:, -1]
            embeddings.append(last if LEAKY else last.clone().cpu())
    print(len(embeddings))


main()
