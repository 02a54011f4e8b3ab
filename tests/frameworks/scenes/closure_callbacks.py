# SPDX-License-Identifier: MIT
"""Callbacks for the end of the run are closures over the tensors of their step."""
# leaky: fails at KEPT; verdict growing; kept by logger.deferred (list)
# clean: passes
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"


class Logger:
    def __init__(self):
        self.deferred = []

    def defer(self, callback):
        self.deferred.append(callback)

    def flush(self):
        for callback in self.deferred:
            callback()


def log_attention(logger, step, weights):
    if LEAKY:
        logger.defer(lambda: print("step", step, "attention", weights.mean().item()))
    else:
        mean = weights.mean().item()
        logger.defer(lambda: print("step", step, "attention", mean))


def main():
    query = nn.Linear(128, 128).cuda()
    key = nn.Linear(128, 128).cuda()
    optimizer = torch.optim.SGD([*query.parameters(), *key.parameters()], lr=0.1)
    logger = Logger()
    for step in range(100):
        x = torch.randn(4, 128, 128).cuda()
        scores = query(x) @ key(x).transpose(1, 2)
        weights = scores.softmax(-1)  # KEPT
        loss = (weights @ x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log_attention(logger, step, weights.detach())
    logger.flush()


main()
