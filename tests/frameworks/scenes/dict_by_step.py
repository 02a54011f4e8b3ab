# SPDX-License-Identifier: MIT
"""Predictions put into a dict under their step, to show some of them later."""
# leaky: fails at KEPT; verdict growing; kept by trainer.predictions (dict) in __main__
# clean: passes
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"


class Trainer:
    def __init__(self, model):
        self.model = model.cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.predictions = {}

    def train_step(self, step, x, y):
        pred = self.model(x)  # KEPT
        loss = nn.functional.mse_loss(pred, y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.predictions[step if LEAKY else "newest"] = pred.detach()

    def fit(self, steps):
        for step in range(steps):
            x = torch.randn(64, 512, device="cuda")
            self.train_step(step, x, x)


trainer = Trainer(nn.Sequential(nn.Linear(512, 128), nn.ReLU(), nn.Linear(128, 512)))
trainer.fit(120)
print("kept:", len(trainer.predictions))
