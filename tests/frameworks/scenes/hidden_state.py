# SPDX-License-Identifier: MIT
"""A language model over one long text: the hidden state carried from window to window is not detached."""
# leaky: fails at KEPT; verdict growing; advice detach; kept by hidden (torch.Tensor) in main()
# clean: passes
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"
device = torch.device("cuda")


class CharModel(nn.Module):
    def __init__(self, vocabulary=128, width=256):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens, hidden):
        output, hidden = self.rnn(self.embed(tokens), hidden)  # KEPT
        return self.head(output), hidden


def main():
    model = CharModel().to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters())
    text = torch.zeros(16, 80 * 32 + 1, dtype=torch.long)
    hidden = None
    optimizer.zero_grad()
    for start in range(0, 80 * 32, 32):
        x = text[:, start:start + 32].to(device)
        y = text[:, start + 1:start + 33].to(device)
        logits, hidden = model(x, hidden)
        loss = criterion(logits.flatten(0, 1), y.flatten())
        if LEAKY:
            loss.backward(retain_graph=True)
        else:
            loss.backward()
            hidden = hidden.detach()
    optimizer.step()


main()
