# SPDX-License-Identifier: MIT
"""Feeds a GPU from pinned memory: each batch is put into a staging buffer, and copied while the next one is read.

A buffer must stay as it is until its copy is done, so the loader keeps it beside the event that says so.

    loader.py            the buffers are kept, and never looked at again
    loader.py --fixed    a buffer is used again when its copy is done
"""

import collections
import sys

import numpy as np
from numba import config, cuda

config.CUDA_DEALLOCS_COUNT = 0  # Numba frees arrays in batches; here at once

BATCH = (32, 3, 64, 64)
STEPS = 150


class Loader:
    def __init__(self, reuse):
        self.reuse = reuse
        self.stream = cuda.stream()
        self.in_flight = collections.deque()  # (copied, staging), the oldest first

    def staging_buffer(self):
        if self.reuse and self.in_flight and self.in_flight[0][0].query():
            return self.in_flight.popleft()[1]
        return cuda.pinned_array(BATCH, dtype=np.float32)

    def load(self, images, batch):
        """Starts to copy the images into the batch on the GPU."""
        staging = self.staging_buffer()
        staging[:] = images
        batch.copy_to_device(staging, stream=self.stream)
        copied = cuda.event(timing=False)
        copied.record(self.stream)
        self.in_flight.append((copied, staging))


def main():
    loader = Loader(reuse="--fixed" in sys.argv[1:])
    images = np.zeros(BATCH, dtype=np.float32)
    batch = cuda.device_array(BATCH, dtype=np.float32)
    for _ in range(STEPS):
        loader.load(images, batch)
        scores = cuda.device_array(len(batch), dtype=np.float32)  # of a model that works on the batch
        del scores
    loader.stream.synchronize()
    print(f"{STEPS} batches loaded; staging buffers: {len(loader.in_flight)}")


if __name__ == "__main__":
    main()
