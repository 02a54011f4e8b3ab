# SPDX-License-Identifier: MIT
"""The program of the guide nvidia-smi-says-more.md: a model answers a long prompt, then short ones, and a library beside
PyTorch keeps a workspace of its own."""

import ctypes
import os

import torch
from torch import nn


class Decoder:
    """Stands for a library that allocates by itself: NCCL, TensorRT, a video decoder."""

    def __init__(self, size):
        runtime = ctypes.CDLL("libcudart.so.13")
        self.workspace = ctypes.c_void_p()
        runtime.cudaMalloc(ctypes.byref(self.workspace), ctypes.c_size_t(size))


def load():
    up = nn.Linear(16384, 32768, device="cuda")
    down = nn.Linear(32768, 16384, device="cuda")
    return nn.Sequential(up, nn.GELU(), down)


@torch.inference_mode()
def serve(model, lengths):
    for length in lengths:
        prompt = torch.empty(length, 16384, device="cuda")
        model(prompt)


decoder = Decoder(768 << 20)
model = load()
serve(model, [16384, 512, 512])
free, total = torch.cuda.mem_get_info()
print(f"PyTorch: {torch.cuda.memory_allocated() / 2**30:.1f} GiB")
print(f"the device: {(total - free) / 2**30:.1f} GiB", flush=True)
os._exit(0)  # a server does not tidy up: it is stopped
