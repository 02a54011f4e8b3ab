# SPDX-License-Identifier: MIT
"""A chat server that generates with a key-value cache, and keeps the cache of each session that has ended."""
# leaky: fails at KEPT_KEYS KEPT_VALUES; verdict growing; kept by sessions (dict) in __main__
# clean: passes
import sys

import torch
import torch.nn.functional as F
from torch import nn

LEAKY = sys.argv[1] == "leaky"
WIDTH, HEADS, VOCABULARY = 256, 4, 1000


class Cache:
    def __init__(self):
        self.keys = self.values = None

    def update(self, keys, values):
        if self.keys is None:
            self.keys, self.values = keys, values
        else:
            self.keys = torch.cat([self.keys, keys], dim=2)  # KEPT_KEYS
            self.values = torch.cat([self.values, values], dim=2)  # KEPT_VALUES
        return self.keys, self.values


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x, cache):
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        k, v = cache.update(k, v)
        return self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, length, WIDTH))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.attention = Attention()
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens, cache):
        return self.head(self.attention(self.embedding(tokens), cache))

    @torch.inference_mode()
    def generate(self, prompt, cache, count=8):
        tokens = prompt
        answer = []
        for _ in range(count):
            logits = self(tokens, cache)
            tokens = torch.argmax(logits[:, -1:], dim=-1)
            answer.append(tokens)
        return torch.cat(answer, dim=1).cpu()


model = Decoder().cuda().eval()
sessions = {}
for request in range(80):
    cache = Cache()
    prompt = torch.zeros(1, 192, dtype=torch.long).cuda()
    answer = model.generate(prompt, cache)
    if LEAKY:
        sessions[request] = cache
