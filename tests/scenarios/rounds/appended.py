# SPDX-License-Identifier: MIT
"""One buffer that is appended to: key-value caches, which are given up as their function returns, and banks, which are held to the
end."""

from base import CLEAN, LEAK, Model, family, run, some
from simgpu import KIB, Buffer, work


def concat(old, more):
    size = more + (old.size if old else 0)
    new = Buffer(size)
    new.size = size
    return new


def cat(old, more):
    size = more + (old.size if old else 0)
    new = Buffer(size)  # LEAK
    new.size = size
    return new


def generate(tokens):
    keys = values = None
    for _ in range(tokens):
        work()
        keys = concat(keys, 16 * KIB)
        values = concat(values, 16 * KIB)


@family(CLEAN, "tune")
def one_answer():
    """A key-value cache of one long answer, at the run's end."""
    model = Model(12, some(64 * KIB, 512 * KIB))
    generate(20 + 10 * run.rounds)
    return model


@family(CLEAN, "held")
def answers_longer():
    """Each answer is three times as long as the last."""
    global model
    model = Model(8, some(64 * KIB, 512 * KIB))
    tokens = 8
    for _ in range(min(run.rounds, 4)):
        generate(tokens)
        tokens *= 3


@family(CLEAN, "held")
def answer_of_an_object():
    """The cache is in an object that the answering function makes."""
    class Session:
        def __init__(self):
            self.cache = None

        def answer(self, tokens):
            for _ in range(tokens):
                work()
                self.cache = concat(self.cache, some(8 * KIB, 64 * KIB))

    def serve():
        Session().answer(20 + 12 * run.rounds)
    model = Model(10, 256 * KIB)
    serve()
    return model


@family(LEAK, "held")
def bank_of_the_module():
    """Held to the interpreter's end."""
    global model, bank
    model, bank = Model(8, 256 * KIB), None
    for _ in range(15 + 5 * run.rounds):
        work()
        bank = cat(bank, some(16 * KIB, 64 * KIB))


@family(LEAK, "tune")
def bank_of_main():
    """In a variable of the program's outermost function, which returns at the end."""
    model, bank = Model(8, 256 * KIB), None
    for _ in range(15 + 5 * run.rounds):
        work()
        bank = cat(bank, 32 * KIB)
    del model


@family(LEAK, "held")
def bank_of_main_tried():
    """The same; it was tried, and emptied, before."""
    model, bank = Model(8, 256 * KIB), None
    for i in range(15 + 8 * run.rounds):
        if i == run.rounds:
            bank = None
        work()
        bank = cat(bank, some(16 * KIB, 64 * KIB))
    return None if model else bank


@family(LEAK, "held")
def bank_of_a_trainer():
    """In an attribute of an object of that function, which also has the model."""
    class Trainer:
        def __init__(self):
            self.model = Model(8, 256 * KIB)
            self.bank = None

        def fit(self):
            for _ in range(15 + 8 * run.rounds):
                work()
                self.bank = cat(self.bank, 32 * KIB)
    Trainer().fit()
