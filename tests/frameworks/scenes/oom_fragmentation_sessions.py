# SPDX-License-Identifier: MIT
"""The sessions of a server lie in the memory of its warm-up, which is then too small for a longer prompt."""
# leaky: cause fragmentation at CACHE; passes; advice expandable_segments
# clean: passes
# sim: 512M
import os
import sys

LEAKY = sys.argv[1] == "leaky"
if not LEAKY:
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"

import torch

LAYERS, HEADS, WIDTH = 6, 8, 64


class Server:
    def __init__(self):
        self.sessions = {}

    def prefill(self, tokens):
        queries, keys = torch.randn(2, HEADS, tokens, WIDTH, dtype=torch.float16, device="cuda")
        scores = queries @ keys.transpose(-1, -2)
        return scores.amax(dim=-1).cpu()

    def open(self, name, tokens):
        self.sessions[name] = torch.zeros(2, LAYERS, HEADS, tokens, WIDTH, dtype=torch.float16, device="cuda")  # CACHE

    def decode(self, name):
        keys, values = self.sessions[name]
        query = torch.randn(LAYERS, HEADS, 1, WIDTH, dtype=torch.float16, device="cuda")
        scores = torch.softmax(query @ keys.transpose(-1, -2), dim=-1)
        return (scores @ values).cpu()


server = Server()
with torch.inference_mode():
    server.prefill(tokens=3584)  # The usual prompt, to warm up.
    for user in range(5):
        server.open(user, tokens=1024)
    for turn in range(30):
        for user in server.sessions:
            server.decode(user)
    server.prefill(tokens=4608)
