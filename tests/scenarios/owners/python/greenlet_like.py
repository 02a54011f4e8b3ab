# SPDX-License-Identifier: MIT
# OWNER image (local of scheduler.waiting[*]) in module __main__: 3 x 64 KiB
"""A scheduler of generators."""

import collections

from simgpu import KIB, Buffer


class Scheduler:
    def __init__(self):
        self.waiting = collections.deque()

    def run(self, rounds):
        for _ in range(rounds):
            task = self.waiting.popleft()
            next(task)
            self.waiting.append(task)


def decode(number):
    image = Buffer(64 * KIB)
    while image:
        yield number


scheduler = Scheduler()
for number in range(3):
    scheduler.waiting.append(decode(number))
scheduler.run(4)
