# SPDX-License-Identifier: MIT
"""Embeddings of documents memoized: all that were ever asked for, or the last few."""
# leaky: fails at KEPT; verdict growing; kept by embed
# clean: passes
import functools
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"
device = torch.device("cuda")
encoder = nn.Sequential(nn.Embedding(1000, 256), nn.Linear(256, 256), nn.ReLU()).to(device).eval()


@functools.lru_cache(maxsize=None if LEAKY else 16)
def embed(document):
    tokens = torch.full((1, 128), document % 1000).to(device)
    with torch.no_grad():
        return encoder(tokens)  # KEPT


def similarity(a, b):
    return float(torch.nn.functional.cosine_similarity(embed(a).mean(1), embed(b).mean(1)))


scores = [similarity(document, document + 1) for document in range(150)]
print(len(scores), "pairs;", embed.cache_info())
