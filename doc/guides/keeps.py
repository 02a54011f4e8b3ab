# SPDX-License-Identifier: MIT
"""The program of the guide what-keeps-it.md: a server that unloads its models, and does not get their memory back.
`keeps.py --fixed` does."""

import sys

import numpy as np
from numba import config, cuda

config.CUDA_DEALLOCS_COUNT = 0  # Numba frees arrays in batches; here at once

FIXED = "--fixed" in sys.argv[1:]
callbacks = []


class Model:
    def __init__(self):
        self.weights = cuda.to_device(np.zeros((4096, 4096), dtype=np.float32))

    def run(self, batch):
        hidden = cuda.to_device(batch)
        if batch.shape[1] != self.weights.shape[0]:
            raise ValueError(f"expected {self.weights.shape[0]} columns, found {batch.shape[1]}")
        return hidden


class Server:
    def __init__(self):
        self.models = {"small": Model(), "large": Model()}
        self.last_error = None

    def handle(self, batch):
        try:
            return self.models["large"].run(batch)
        except ValueError as error:
            self.last_error = str(error) if FIXED else error
            return None

    def unload(self, name):
        del self.models[name]


def on_exit(model):
    if FIXED:
        shape = model.weights.shape
        callbacks.append(lambda: print(f"weights of {shape}"))
    else:
        callbacks.append(lambda: print(f"weights of {model.weights.shape}"))


def main():
    server = Server()
    on_exit(server.models["small"])
    server.handle(np.zeros((512, 1024), dtype=np.float32))
    server.unload("small")
    server.unload("large")
    print(f"{len(server.models)} models are loaded")
    return server


if __name__ == "__main__":
    server = main()
