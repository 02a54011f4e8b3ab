# SPDX-License-Identifier: MIT
# GONE trainer.history[*] in frame main: 40 x 64 KiB
"""An attribute of an object that main() holds."""

from simgpu import KIB, Buffer


class Trainer:
    def __init__(self):
        self.history = []

    @staticmethod
    def step():
        return Buffer(64 * KIB)


def main():
    trainer = Trainer()
    for _ in range(40):
        trainer.history.append(trainer.step())


main()
