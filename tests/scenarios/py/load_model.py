# SPDX-License-Identifier: MIT
"""Weights are put on the device once and used to the end of the process, which frees nothing; or every
validation loads a fresh copy and keeps it."""

import os

from simgpu import KIB, MIB, Buffer, leaking, work

models = []


def load():
    weights = []
    for layer in range(10):
        Buffer(64 * KIB)
        weights.append(Buffer(MIB))  # LEAK
    return weights


for epoch in range(15):
    if leaking or not models:
        models.append(load())
    for _ in range(12):
        work()
os._exit(0)
