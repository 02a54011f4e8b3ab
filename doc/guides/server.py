# SPDX-License-Identifier: MIT
"""A server as it runs for days, in seconds: each request takes a few arrays, and each new session leaves a cache behind.

server.py REQUESTS"""

import sys

import numpy as np
from numba import config, cuda

config.CUDA_DEALLOCS_COUNT = 0  # Numba frees arrays at once, not in batches


class Server:
    def __init__(self):
        self.weights = cuda.device_array((1 << 20,), dtype=np.float32)
        self.caches = {}

    def answer(self, number, session):
        if session not in self.caches:
            self.caches[session] = cuda.device_array(4096, dtype=np.float32)
        for _ in range(4):
            cuda.device_array(1024 * (1 + number % 7), dtype=np.float32)


def main():
    server = Server()
    for number in range(int(sys.argv[1])):
        server.answer(number, session=number // 50)


main()
