# SPDX-License-Identifier: MIT
"""Leaks of a training that is followed by a short evaluation, at lines of its own."""

from base import LEAK, family, run, some
from simgpu import KIB, MIB, Buffer, work


def evaluate(count):
    """Lines that the training has not."""
    for _ in range(count):
        logits = Buffer(MIB)
        score = Buffer(4 * KIB)
        del logits, score


@family(LEAK, "tune")
def then_evaluates():
    """The loss of each step is kept, then the model is evaluated."""
    losses = []
    for _ in range(run.rounds * 12):
        work()
        losses.append(Buffer(4 * KIB))  # LEAK
    evaluate(run.rounds // 2)


@family(LEAK, "held")
def outputs_then_saved():
    """The output of each step is kept, of three blocks that a step makes; at the end the model is saved."""
    global outputs
    outputs = []
    for _ in range(run.rounds * 10):
        hidden = Buffer(512 * KIB)
        gradient = Buffer(512 * KIB)
        outputs.append(Buffer(512 * KIB))  # LEAK
        del hidden, gradient
    evaluate(1)


@family(LEAK, "held")
def graphs_then_scored():
    """What the backward pass needs is kept with the loss: two layers of six blocks."""
    class Trainer:
        losses = []
    global trainer
    trainer = Trainer()

    def step():
        kept = []
        for _ in range(2):
            work()
            kept.append(Buffer(MIB))  # LEAK
            work()
        trainer.losses.append(kept)
    for _ in range(run.rounds * 8):
        step()
    evaluate(1 + run.rounds // 3)


@family(LEAK, "held")
def batches_then_plotted():
    """Each batch is kept, and nothing else is large."""
    batches = []
    for _ in range(run.rounds * 12):
        batches.append(Buffer(2 * MIB))  # LEAK
        Buffer(some(256 * KIB, 4 * MIB))
        Buffer(MIB)
    evaluate(run.rounds // 3)


@family(LEAK, "held")
def sessions_then_summary():
    """A server's sessions are never dropped; a table of figures at its end."""
    class Session:
        def __init__(self):
            self.cache = Buffer(3 * MIB)  # LEAK
    global sessions
    sessions = {}
    for request in range(run.rounds * 10):
        sessions[f"user {request}"] = Session()
        Buffer(MIB)
    Buffer(4 * KIB)
