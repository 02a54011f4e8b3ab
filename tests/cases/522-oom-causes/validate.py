# SPDX-License-Identifier: MIT
"""A small leak, step by step; then validation holds much more than it, until memory runs out."""

from gpu import take

MIB = 1 << 20
losses = []


def step():
    batch = take(MIB)
    losses.append(take(4096))  # the leak
    del batch


def validate():
    outputs = take(200 * MIB)
    return outputs, take(180 * MIB), take(300 * MIB)


for _ in range(150):
    step()
validate()
