# SPDX-License-Identifier: MIT
"""A training with a leak: a metric object keeps each output (or, "fixed", drops them at the end of each epoch)."""

import sys

import torch


class Metric:
    def __init__(self):
        self.outputs = []

    def update(self, output):
        self.outputs.append(torch.softmax(output.detach(), dim=-1))

    def reset(self):
        if "fixed" in sys.argv:
            self.outputs.clear()


metric = Metric()


def main():
    model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1024)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(10):
        for _ in range(12):
            output = model(torch.randn(64, 256, device="cuda"))
            optimizer.zero_grad()
            output.sum().backward()
            optimizer.step()
            metric.update(output)
        metric.reset()


main()
