#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A small training script that leaks GPU memory the way real ones do.

It has the usual parts (a dataset, a model with weights, a loop of steps, an evaluation each epoch) on Numba's
CUDA arrays, and one mistake: the history keeps each step's output on the GPU instead of its value. Only
allocations and copies are used, no kernels, so it runs on the simulated GPU as well.

    vramtrace run -o train.vtl -- python3 examples/train.py
    vramtrace report train.vtl

--fixed runs it with the mistake mended: compare the two reports.
"""

import argparse

import numpy as np
from numba import cuda


class Dataset:
    """Random images in host memory, handed out a batch at a time."""

    def __init__(self, images, batch_size):
        rng = np.random.default_rng(seed=7)
        self.images = rng.standard_normal((images, 3, 64, 64), dtype=np.float32)
        self.batch_size = batch_size

    def batch(self, index):
        start = index * self.batch_size % len(self.images)
        return self.images[start : start + self.batch_size]


class Model:
    """Two dense layers and the room for their gradients, on the GPU for the model's whole life."""

    def __init__(self, inputs, hidden, classes):
        self.classes = classes
        self.hidden = hidden
        self.weights = [
            cuda.to_device(np.zeros((inputs, hidden), dtype=np.float32)),
            cuda.to_device(np.zeros((hidden, classes), dtype=np.float32)),
        ]
        self.gradients = [cuda.device_array_like(weight) for weight in self.weights]

    def forward(self, images):
        """Returns the scores of a batch, a new array on the GPU; the activations end with the call."""
        activations = cuda.device_array((len(images), self.hidden), dtype=np.float32)
        scores = cuda.device_array((len(activations), self.classes), dtype=np.float32)
        scores.copy_to_device(np.zeros(scores.shape, dtype=np.float32))
        return scores


def train_step(model, images, history, fixed):
    on_gpu = cuda.to_device(images)
    scores = model.forward(on_gpu)
    loss = cuda.to_device(scores.copy_to_host().mean(axis=1))
    if fixed:
        history.append(float(loss.copy_to_host().mean()))
    else:
        history.append((loss, scores))  # the bug: both stay on the GPU as long as the history does


def evaluate(model, dataset):
    """Scores one batch; what it allocates is freed when it returns."""
    scores = model.forward(cuda.to_device(dataset.batch(0)))
    return float((scores.copy_to_host().argmax(axis=1) == 0).mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=3, help="passes over the data (3)")
    parser.add_argument("--steps", type=int, default=40, help="steps in an epoch (40)")
    parser.add_argument("--fixed", action="store_true", help="keep numbers in the history, not GPU arrays")
    options = parser.parse_args()

    dataset = Dataset(images=512, batch_size=32)
    model = Model(inputs=3 * 64 * 64, hidden=256, classes=8192)
    history = []
    for epoch in range(options.epochs):
        for step in range(options.steps):
            train_step(model, dataset.batch(step), history, options.fixed)
        accuracy = evaluate(model, dataset)
        print(f"epoch {epoch + 1}: {len(history)} steps, accuracy {accuracy:.2f}")


if __name__ == "__main__":
    main()
