# SPDX-License-Identifier: MIT
"""A leak whose memory Python frees as it ends: metric forgets to drop its history (or, "fixed", drops it each round). Model and
optimizer are there in both runs; "local": the metric, too, is a local variable of main()."""

import sys

from simgpu import KIB, Buffer


class Metric:
    def __init__(self):
        self.history = []

    def update(self):
        self.history.append(Buffer(64 * KIB))

    def reset(self):
        if "fixed" in sys.argv:
            self.history.clear()


def step(model):
    scratch = Buffer(32 * KIB)
    return scratch.pointer != model[0].pointer


def main(metric):
    model = [Buffer(512 * KIB) for _ in range(8)]
    state = [Buffer(128 * KIB) for _ in range(8)]
    for _ in range(10):
        for _ in range(16):
            step(model)
            metric.update()
        metric.reset()
    return len(state)


if "local" in sys.argv:
    main(Metric())
else:
    shared = Metric()
    main(shared)
