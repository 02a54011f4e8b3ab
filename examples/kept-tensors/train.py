# SPDX-License-Identifier: MIT
"""A training loop in PyTorch that keeps each step's scores, for the accuracy at the end.

    train.py            keeps them as they are: on the GPU, with the graph of their step behind them
    train.py --fixed    keeps what the accuracy needs: the predicted classes, in host memory
"""

import sys

import torch
from torch import nn

FIXED = "--fixed" in sys.argv[1:]
EPOCHS, STEPS, BATCH = 3, 40, 256


def main():
    model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 1000)).cuda()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    outputs, targets = [], []
    for epoch in range(EPOCHS):
        for _ in range(STEPS):
            images, labels = torch.randn(BATCH, 512), torch.zeros(BATCH, dtype=torch.long)
            scores = model(images.cuda())
            loss = criterion(scores, labels.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            outputs.append(scores.argmax(dim=1).cpu() if FIXED else scores)
            targets.append(labels)
        print(f"epoch {epoch + 1}: {len(outputs)} steps")
    classes = torch.cat(outputs) if FIXED else torch.cat(outputs).argmax(dim=1).cpu()
    print(f"accuracy {(classes == torch.cat(targets)).float().mean():.2f}")


if __name__ == "__main__":
    main()
