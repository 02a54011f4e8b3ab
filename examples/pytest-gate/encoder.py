# SPDX-License-Identifier: MIT
"""Sentences to vectors on the GPU, as a small library of one's own; its tests are test_encoder.py."""

import numpy as np
from numba import config, cuda

config.CUDA_DEALLOCS_COUNT = 0  # Numba frees arrays in batches; here at once

WIDTH = 65536


class Encoder:
    cache = {}  # the bug: one for the class, not for each encoder, so it outlives them all

    def encode(self, text):
        """The vector of a text, from the cache if it was asked for before."""
        if text not in self.cache:
            tokens = cuda.to_device(np.frombuffer(text.encode(), dtype=np.uint8))
            vector = cuda.device_array(WIDTH, dtype=np.float32)
            # here a kernel would compute the vector of the tokens
            self.cache[text] = vector
            del tokens
        return self.cache[text]


class FixedEncoder(Encoder):
    def __init__(self):
        self.cache = {}
