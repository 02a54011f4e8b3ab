# SPDX-License-Identifier: MIT
"""rounds.py N HOW: a model, then N rounds. HOW: each keeps a feature tensor (kept) or none (clean); each loads another weight
(loaded), which two steps then use; they are steps of a training that half as many steps of an evaluation follow (returned)."""

import sys

from standin import Tensor

rounds, how = int(sys.argv[1]), sys.argv[2]
model = [Tensor(1 << 18) for _ in range(12)]
features = []


def step():
    x = Tensor(1 << 16)
    hidden = [Tensor(1 << 16) for _ in range(4)]
    del x, hidden


def load():
    for _ in range(rounds):
        staging = Tensor(1 << 16)
        features.append(Tensor(1 << 17))  # LOADED
        del staging


def evaluate():
    predictions = []
    for _ in range(rounds // 2):
        step()
        predictions.append(Tensor(1 << 17))  # RETURNED


if how == "loaded":
    load()
for _ in range(2 if how == "loaded" else rounds):
    step()
    if how == "kept":
        features.append(Tensor(1 << 17))  # KEPT
if how == "returned":
    evaluate()
