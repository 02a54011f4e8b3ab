# SPDX-License-Identifier: MIT
"""Data-parallel training, one process a GPU, as torchrun starts it: RANK and LOCAL_RANK say which one this is.

Rank 0 also writes the log, and keeps each step's scores for it: on the GPU, though the log needs one number.
`train.py --fixed` keeps the number.
"""

import os
import sys

import numpy as np
from numba import config, cuda

config.CUDA_DEALLOCS_COUNT = 0  # Numba frees arrays in batches; here at once

RANK, LOCAL_RANK = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
BATCH, FEATURES, CLASSES = 64, 4096, 4096
STEPS = 120


class Log:
    def __init__(self, on_gpu):
        self.on_gpu = on_gpu
        self.scores = []

    def add(self, scores):
        self.scores.append(scores if self.on_gpu else scores.copy_to_host().mean())


def forward(weights, batch):
    hidden = cuda.device_array((BATCH, FEATURES), dtype=np.float32)
    hidden.copy_to_device(batch)
    return cuda.device_array((BATCH, CLASSES), dtype=np.float32)


def main():
    cuda.select_device(LOCAL_RANK % len(cuda.gpus))
    log = Log(on_gpu="--fixed" not in sys.argv[1:])
    weights = cuda.to_device(np.zeros((FEATURES, CLASSES), dtype=np.float32))
    images = np.zeros((BATCH, FEATURES), dtype=np.float32)
    for _ in range(STEPS):
        scores = forward(weights, cuda.to_device(images))
        if RANK == 0:
            log.add(scores)
    print(f"rank {RANK}: {STEPS} steps")


if __name__ == "__main__":
    main()
