# SPDX-License-Identifier: MIT
"""Scenes of sites that rise together, or only in the same loop. Lines that belong to one leak have the same letter."""

import sys

from standin import Tensor

KIB, MIB = 1 << 10, 1 << 20


def work():
    Tensor(64 * KIB)


def gru():
    """The hidden state is not detached: each step keeps what 32 time steps made, and its small batch."""

    class Gru:
        def forward(self, x, hidden):
            made = []
            for _ in range(32):
                gates = Tensor(48 * KIB)  # LEAK a
                state = Tensor(16 * KIB)  # LEAK a
                Tensor(16 * KIB)
                made += [gates, state]
            return [*hidden, x, *made]

    def train(model):
        hidden = []
        for _ in range(30):
            x = Tensor(4 * KIB)  # LEAK a
            hidden = model.forward(x, hidden)
            work()
        return hidden

    return train(Gru())


def trainers():
    """Kept trainers: a model, its gradients and two states of its optimizer. One state's line also makes what lives for a
    few rounds; by itself it is not growing."""

    class Trainer:
        def __init__(self):
            self.model = [Tensor(256 * KIB) for _ in range(6)]  # LEAK a

        def fit(self, recent):
            self.first, self.second = [], []
            for step in range(4):
                work()
                if step == 0:
                    self.gradients = [Tensor(256 * KIB) for _ in range(6)]  # LEAK a
                    for _ in range(6):
                        self.first.append(Tensor(256 * KIB))  # LEAK a
                        self.second.append(Tensor(256 * KIB))  # LEAK a

    def search():
        kept, recent = [], []
        for _ in range(20):
            trainer = Trainer()
            trainer.fit(recent)
            kept.append(trainer)
        return kept

    return search()


def twin():
    """Two states of the same 18 blocks. The line of one has also lent a block for most of the run: beside that, its own
    blocks are too young to be judged."""

    def step(number, kept, lent):
        first = Tensor(64 * KIB)  # LEAK a
        made = [Tensor(64 * KIB) for _ in range(1 + (number == 0))]  # LEAK a
        kept.append((first, made[0]))
        lent += made[1:]

    kept, lent = [], []
    for number in range(18):
        step(number, kept, lent)
        if number == 14:
            lent.clear()
        work()
    return kept


def main():
    globals()["kept"] = globals()[sys.argv[1]]()


if len(sys.argv) > 1:
    main()
