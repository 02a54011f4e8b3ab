# SPDX-License-Identifier: MIT
"""A module in the style of Lightning keeps its step outputs for the end of the epoch, and empties the list, or not."""
# leaky: fails at KEPT; verdict growing; kept by .training_step_outputs (list)
# clean: passes
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"


class LitClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 64))
        self.training_step_outputs = []

    def training_step(self, batch, batch_index):
        x, y = batch
        logits = self.net(x)  # KEPT
        loss = nn.functional.cross_entropy(logits, y)
        self.training_step_outputs.append({"loss": loss, "logits": logits})
        return loss

    def on_train_epoch_end(self):
        loss = torch.stack([output["loss"] for output in self.training_step_outputs]).mean()
        print(f"loss {loss.item():.3f}")
        if not LEAKY:
            self.training_step_outputs.clear()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


class Trainer:
    def __init__(self, max_epochs):
        self.max_epochs = max_epochs

    def fit(self, module, loader):
        module.cuda().train()
        optimizer = module.configure_optimizers()
        for _ in range(self.max_epochs):
            for index, batch in enumerate(loader):
                batch = [part.cuda() for part in batch]
                loss = module.training_step(batch, index)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            module.on_train_epoch_end()


data = torch.utils.data.TensorDataset(torch.randn(12 * 128, 256), torch.randint(64, (12 * 128,)))
Trainer(max_epochs=10).fit(LitClassifier(), torch.utils.data.DataLoader(data, batch_size=128, shuffle=True))
