# SPDX-License-Identifier: MIT
"""Backward passes of a real PyTorch, for run_backward. No kernel needs to run, and no library beside PyTorch's own."""

import os
import threading

import torch
from torch.utils.checkpoint import checkpoint

kept = []


def ones():
    return torch.ones(256, 1024, device="cuda", requires_grad=True)


def plain():
    x = ones()
    (x * w).relu().sum().backward()  # plain
    kept.append(x.grad)


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        kept.append(gradient * 2)  # in Python
        return kept[-1]


def custom():
    Twice.apply(ones()).sum().backward()  # custom


def block(x):
    return (x * w).relu()  # recomputed


def checkpoints():
    for reentrant in (True, False):
        checkpoint(block, ones() * 1, use_reentrant=reentrant).sum().backward()  # checkpoints


def fails():
    x = ones() * 1
    x.register_hook(lambda gradient: torch.empty(1 << 42, device="cuda"))  # too much
    try:
        (x * w).sum().backward()  # fails
    except torch.OutOfMemoryError:
        print("out of memory")


def thread(wait):
    x = ones()
    loss = (x * x).sum()
    wait()
    loss.backward()  # two at once
    kept.append(x.grad)


w = ones()
plain()
custom()
checkpoints()
fails()
plain()
both = threading.Barrier(2)
threads = [threading.Thread(target=thread, args=(both.wait,)) for _ in range(2)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(len(kept), torch.cuda.memory_allocated())
print("done", flush=True)
os._exit(0)  # the engine's threads may not stop in time
