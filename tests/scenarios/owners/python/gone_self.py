# SPDX-License-Identifier: MIT
# GONE self.history[*] in frame Trainer.run | self.history[*] in frame run: 40 x 64 KiB
"""An object that only the method it runs holds."""

from simgpu import KIB, Buffer


class Trainer:
    def __init__(self):
        self.history = []

    def run(self):
        for _ in range(40):
            self.history.append(Buffer(64 * KIB))


Trainer().run()
