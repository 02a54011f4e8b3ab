#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A small training script that leaks GPU memory the way real ones do.

It has the usual parts (a dataset, a model with weights, a loop of steps, an evaluation each epoch) on Numba's
CUDA arrays, and one mistake: the history keeps each step's output on the GPU instead of its value. Only
allocations and copies are used, no kernels, so it runs on the simulated GPU as well.

    vramtrace run -o train.vtl -- python3 examples/train.py
    vramtrace report train.vtl

--fixed runs it without the mistake: compare the two reports.
"""

import argparse
import itertools
import os
import queue
import sys
import threading
import traceback

import numpy as np
from numba import config, cuda

# Numba frees arrays in batches. Free them at once, so that only this script's own memory is held at the end.
config.CUDA_DEALLOCS_COUNT = 0

history = []  # the loss of every step, for the curve at the end


class Dataset:
    """Random images in host memory; a thread of its own makes batches of them."""

    def __init__(self, images, batch_size):
        rng = np.random.default_rng(seed=7)
        self.images = rng.standard_normal((images, 3, 64, 64), dtype=np.float32)
        self.batch_size = batch_size
        self.ready = queue.Queue(maxsize=4)
        threading.Thread(target=self.load, name="loader").start()

    def load(self):
        for start in itertools.cycle(range(0, len(self.images), self.batch_size)):
            self.ready.put(self.images[start : start + self.batch_size])

    def next_batch(self):
        return self.ready.get()


class Model:
    """Two dense layers and their gradients, on the GPU as long as the model lives."""

    def __init__(self, inputs, hidden, classes):
        self.classes = classes
        self.hidden = hidden
        self.weights = [
            cuda.to_device(np.zeros((inputs, hidden), dtype=np.float32)),
            cuda.to_device(np.zeros((hidden, classes), dtype=np.float32)),
        ]
        self.gradients = [cuda.device_array_like(weight) for weight in self.weights]

    def forward(self, images):
        """Returns the scores of a batch, in a new array on the GPU; the activations are freed when it returns."""
        activations = cuda.device_array((len(images), self.hidden), dtype=np.float32)
        scores = cuda.device_array((len(activations), self.classes), dtype=np.float32)
        scores.copy_to_device(np.zeros(scores.shape, dtype=np.float32))
        return scores


def train_step(model, images, fixed):
    on_gpu = cuda.to_device(images)
    scores = model.forward(on_gpu)
    loss = cuda.to_device(scores.copy_to_host().mean(axis=1))
    if fixed:
        history.append(float(loss.copy_to_host().mean()))
    else:
        history.append((loss, scores))  # the bug: both stay on the GPU, step after step


def evaluate(model, dataset):
    """Scores one batch; what it allocates is freed when it returns."""
    scores = model.forward(cuda.to_device(dataset.next_batch()))
    return float((scores.copy_to_host().argmax(axis=1) == 0).mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=3, help="passes over the data (3)")
    parser.add_argument("--steps", type=int, default=40, help="steps in an epoch (40)")
    parser.add_argument("--fixed", action="store_true", help="keep numbers in the history, not GPU arrays")
    options = parser.parse_args()

    dataset = Dataset(images=512, batch_size=32)
    model = Model(inputs=3 * 64 * 64, hidden=256, classes=8192)
    for epoch in range(options.epochs):
        for _ in range(options.steps):
            train_step(model, dataset.next_batch(), options.fixed)
        accuracy = evaluate(model, dataset)
        print(f"epoch {epoch + 1}: {len(history)} steps, accuracy {accuracy:.2f}")


if __name__ == "__main__":
    try:
        main()
        status = 0
    except Exception:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    os._exit(status)  # the loader's thread never ends by itself
