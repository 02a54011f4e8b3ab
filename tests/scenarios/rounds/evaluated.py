# SPDX-License-Identifier: MIT
"""Leaks of a training that is followed by a short evaluation, at lines of its own; evaluations that collect, and leaks that are like
them."""

from base import CLEAN, LEAK, Model, family, run, some, steps
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


# --- what the run's last loop collects ---

@family(CLEAN, "tune")
def predictions_collected():
    """An evaluation has its predictions in a list, and returns their mean."""
    def evaluate(count):
        predictions = []
        for _ in range(count):
            work()
            predictions.append(Buffer(64 * KIB))
    model = Model(12, 512 * KIB)
    steps(run.rounds * 12)
    evaluate(10 + run.rounds * 3)
    return model


@family(CLEAN, "held")
def features_collected():
    """Features and labels of each batch, put together at last."""
    class Index:
        def build(self, count):
            features, labels = [], []
            for _ in range(count):
                batch = Buffer(MIB)
                features.append(Buffer(some(32 * KIB, 256 * KIB)))
                labels.append(Buffer(KIB))
                del batch
            return Buffer(count * 256 * KIB)
    global model
    model = Model(20, MIB)
    steps(run.rounds * 20)
    return Index().build(20 + run.rounds * 2)


@family(LEAK, "tune")
def late_sessions():
    """What is served after a training is never dropped."""
    global model, sessions
    model, sessions = Model(12, 512 * KIB), []
    steps(run.rounds * 10)
    for _ in range(10 + run.rounds * 3):
        work()
        sessions.append(Buffer(64 * KIB))  # LEAK


@family(LEAK, "held")
def late_in_object():
    """Each request of a server leaves something in it, after it was warmed up."""
    class Server:
        def __init__(self):
            self.model, self.seen = Model(8, MIB), {}

        def serve(self, number):
            work()
            self.seen[number] = Buffer(256 * KIB)  # LEAK
    server = Server()
    steps(run.rounds * 10)
    for number in range(20 + run.rounds * 2):
        server.serve(number)


@family(LEAK, "held")
def losses_of_a_function():
    """A training keeps its losses from its begin on, and returns; the model stays."""
    def train():
        losses = []
        for _ in range(run.rounds * 12):
            work()
            losses.append(Buffer(16 * KIB))  # LEAK
    model = Model(12, 512 * KIB)
    train()
    return model
