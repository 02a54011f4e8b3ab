# SPDX-License-Identifier: MIT
"""Weights and the optimizer's state live to the end, activations for a step; or states are made again each epoch and
kept with the old."""

import sys

from standin import Tensor

weights = [Tensor(1 << 20) for _ in range(12)]
states = []


def make_states():
    for _ in weights:
        states.append(Tensor(2 << 20))  # LEAK


for epoch in range(10):
    if sys.argv[1:] == ["leak"] or not states:
        make_states()
    for step in range(12):
        activations = [Tensor(512 << 10) for _ in weights]
    del activations
