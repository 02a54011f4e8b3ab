# SPDX-License-Identifier: MIT
"""A server of language-model sessions on PyTorch. Each session has its cache of keys and values; each prompt needs room
for its attention scores, and gives it back at once.

The sizes are those of a card of 24 GiB, and grow or shrink with the card.

    serve.py            runs out of memory at a long prompt, though there is room enough in all
    serve.py --fixed    with PyTorch's expandable segments: the same sessions and prompts pass
"""

import os
import sys

if "--fixed" in sys.argv[1:]:
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"

import torch

GIB = torch.cuda.get_device_properties(0).total_memory // 24


def new_buffer(size):
    return torch.empty(size, dtype=torch.uint8, device="cuda")


class Server:
    def __init__(self):
        self.sessions = {}

    def prefill(self, size):
        scores = new_buffer(size)
        # here the model would compute them
        del scores

    def open_session(self, user):
        self.sessions[user] = new_buffer(GIB)  # its keys and values


def main():
    server = Server()
    server.prefill(10 * GIB)  # a usual prompt, to warm up
    for user in ("ada", "alan", "barbara", "edsger", "grace"):
        server.open_session(user)
    server.prefill(16 * GIB)  # a long prompt
    print("all prompts served")


if __name__ == "__main__":
    main()
