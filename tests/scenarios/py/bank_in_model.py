# SPDX-License-Identifier: MIT
"""A model's bank, longer each round, goes before its weights when main returns; or one sequence's cache goes with its function."""

from simgpu import KIB, MIB, Buffer, leaking, snapshot, work


class Model:
    def __init__(self):
        self.bank = Buffer(16 * KIB)
        self.weights = Buffer(8 * MIB)

    def remember(self, length):
        self.bank = self.append(length)

    def append(self, length):
        return Buffer(length * 16 * KIB)  # LEAK

    def decode(self):
        cache = None
        for token in range(40):
            cache = self.append(token + 2)
            work()
        snapshot()
        return cache.owner


def main():
    model = Model()
    if not leaking:
        return model.decode()
    for step in range(40):
        model.remember(step + 2)
        work()
    snapshot()
    return model.bank.owner


main()
