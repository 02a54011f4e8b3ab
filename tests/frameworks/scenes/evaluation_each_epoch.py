# SPDX-License-Identifier: MIT
"""Training is clean; the evaluation after each epoch adds to lists that nothing empties."""
# leaky: fails at KEPT; verdict growing; kept by evaluator.predictions (list) in __main__
# clean: passes
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"


class Evaluator:
    def __init__(self):
        self.predictions = []

    @torch.no_grad()
    def run(self, model, loader):
        model.eval()
        if not LEAKY:
            self.predictions.clear()
        for inputs in loader:
            prediction = model(inputs.cuda())  # KEPT
            self.predictions.append(prediction)
        return torch.cat(self.predictions).std().item()


def train_epoch(model, optimizer, loader):
    model.train()
    for inputs in loader:
        inputs = inputs.cuda()
        loss = nn.functional.mse_loss(model(inputs), inputs)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Dropout(0.1), nn.Linear(512, 256)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
train_loader = torch.utils.data.DataLoader(torch.randn(12 * 64, 256), batch_size=64, shuffle=True)
test_loader = torch.utils.data.DataLoader(torch.randn(6 * 256, 256), batch_size=256)
evaluator = Evaluator()
for epoch in range(12):
    train_epoch(model, optimizer, train_loader)
    print(f"epoch {epoch}: {evaluator.run(model, test_loader):.3f}")
