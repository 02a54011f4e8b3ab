# SPDX-License-Identifier: MIT
"""The nodes of a search tree point at their parents, and the collector is off for speed: it is called, or never."""
# leaky: fails at KEPT; verdict growing; kept by a reference cycle of Node objects
# clean: passes
import gc
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"


class Node:
    def __init__(self, state, parent=None):
        self.state = state
        self.parent = parent
        self.children = []
        self.statistics = {"visits": 0, "value": 0.0}

    def expand(self, policy, depth):
        if depth:
            for state in policy(self.state).chunk(4):
                self.children.append(Node(state, self))
            for child in self.children:
                child.expand(policy, depth - 1)


class Policy(nn.Module):
    def __init__(self, width=1024):
        super().__init__()
        self.net = nn.Linear(width, 4 * width)

    def forward(self, state):
        return torch.tanh(self.net(state))  # KEPT


@torch.inference_mode()
def play(policy, moves):
    for move in range(1, moves + 1):
        root = Node(torch.randn(1024, device="cuda"))
        root.expand(policy, depth=3)
        best = max(root.children, key=lambda node: node.statistics["value"])
        if not LEAKY and move % 10 == 0:
            gc.collect()


gc.disable()
play(Policy().cuda(), moves=120)
