# SPDX-License-Identifier: MIT
# OWNER trainer.batch in module __main__: 512 KiB
# OWNER trainer.previous in module __main__: 256 KiB
"""Attributes of an object."""

from simgpu import KIB, Buffer


class Trainer:
    def __init__(self):
        self.previous = Buffer(256 * KIB)
        self.batch = None

    def step(self):
        self.batch = Buffer(512 * KIB)


trainer = Trainer()
trainer.step()
