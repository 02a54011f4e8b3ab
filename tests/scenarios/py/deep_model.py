# SPDX-License-Identifier: MIT
"""A model of 48 layers, each of which keeps something for the backward pass. The history holds that of every step; or there
are two steps, of which the last one's is still there."""

from simgpu import KIB, Buffer, leaking, work
from torch.nn.modules.module import Module


class Layer(Module):
    def forward(self, saved):
        work()
        saved.append(Buffer(64 * KIB))  # LEAK


class Model(Module):
    def __init__(self):
        self.layers = [Layer() for _ in range(48)]

    def forward(self, saved):
        for layer in self.layers:
            layer(saved)


model, history = Model(), []
for step in range(30 if leaking else 2):
    batch = Buffer(256 * KIB)
    saved = []
    model(saved)
    history = [*history, saved] if leaking else [saved]
