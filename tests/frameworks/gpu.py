# SPDX-License-Identifier: MIT
"""GPU memory for scenes that run on the stand-in allocator, or on PyTorch itself with GPU=torch. To be copied into a
folder `site-packages`: it is a framework's file, not the program's.

    x = take(4 << 20)            4 MiB, for as long as something refers to x; OutOfMemory where there is no room
    with stream(1): ...          requests from another stream than 0
    raw(4 << 20)                 by cudaMalloc, past the allocator; never freed
    live()                       [size, stream] of what is taken now
    limit(1 << 30), empty_cache(), reserved()
"""

import contextlib
import ctypes
import os
import weakref

_blocks, _current = weakref.WeakSet(), [0]

if os.environ.get("GPU") == "torch":
    import torch

    OutOfMemory = torch.OutOfMemoryError
    _streams = {}

    def _tensor(size):
        return torch.empty(size, dtype=torch.uint8, device="cuda")

    @contextlib.contextmanager
    def stream(number):
        _current.append(number)
        if number not in _streams:
            _streams[number] = torch.cuda.Stream() if number else torch.cuda.default_stream()
        with torch.cuda.stream(_streams[number]):
            yield
        _current.pop()

    def limit(most):
        torch.cuda.set_per_process_memory_fraction(most / torch.cuda.mem_get_info()[1])

    def reserved():
        return torch.cuda.memory_reserved()

    empty_cache = torch.cuda.empty_cache
else:
    import standin
    from standin import OutOfMemory, Tensor as _tensor, empty_cache, limit

    @contextlib.contextmanager
    def stream(number):
        _current.append(number)
        with standin.stream(number):
            yield
        _current.pop()

    def reserved():
        return standin.stats()["reserved"]


class Block:
    def __init__(self, size):
        self.size, self.stream = size, _current[-1]
        self.tensor = _tensor(size)


def take(size):
    block = Block(int(size))
    _blocks.add(block)
    return block


def live():
    return [[block.size, block.stream] for block in _blocks]


def raw(size):
    pointer = ctypes.c_void_p()
    runtime = ctypes.CDLL("libcudart.so.13")
    if runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(int(size))):
        runtime.cudaGetLastError()
        raise OutOfMemory(f"cudaMalloc of {size} bytes")
