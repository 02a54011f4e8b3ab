# SPDX-License-Identifier: MIT
"""The framework's allocator: a loss is kept at each step, or dropped; the segments are a cache either way."""

import sys

from standin import Tensor

losses = []


def train_step(leaking):
    activations = [Tensor(1 << 20) for _ in range(3)]
    loss = Tensor(64 << 10)  # LEAK
    losses.append(loss if leaking else len(activations))


for _ in range(150):
    train_step(sys.argv[1:] == ["leak"])
