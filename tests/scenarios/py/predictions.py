# SPDX-License-Identifier: MIT
"""Evaluation after each epoch collects its predictions; they are kept for the report at the end."""

from simgpu import KIB, Buffer, leaking, work

kept = []


def evaluate():
    predictions = []
    for _ in range(8):
        work()
        predictions.append(Buffer(128 * KIB))  # LEAK
    return predictions


for epoch in range(20):
    for _ in range(10):
        work()
    found = evaluate()
    if leaking:
        kept.extend(found)
