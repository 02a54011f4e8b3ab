# SPDX-License-Identifier: MIT
"""tinygpt.py [STEPS] [HISTORY]: trains a small GPT for this many steps (150). Prints the seconds of wall-clock and
processor time, cycles and instructions in user mode (0: they cannot be counted here), and the number of blocks
allocated or freed. On the simulated GPU kernels take no time, so only PyTorch's own work on the processor remains:
the loop is bound by its launches, where a tracer costs most. HISTORY 1: with PyTorch's own memory history. Started
by tests/bench/tinygpt."""

import ctypes
import os
import struct
import sys
import time

import torch
from torch import nn

LAYERS, HEADS, WIDTH, LENGTH, WORDS, BATCH = 4, 4, 64, 32, 256, 8


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))
        self.register_buffer("mask", torch.full((LENGTH, LENGTH), float("-inf")).triu(1))

    def attend(self, x):
        batch, length, width = x.shape
        q, k, v = (t.view(batch, length, HEADS, width // HEADS).transpose(1, 2) for t in self.qkv(x).split(width, 2))
        weights = (q @ k.transpose(2, 3) * (width // HEADS) ** -0.5 + self.mask).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class TinyGPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.word, self.place = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)

    def forward(self, tokens):
        x = self.word(tokens) + self.place(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def train(model, optimizer, steps):
    for _ in range(steps):
        tokens = torch.randint(0, WORDS, (BATCH, LENGTH + 1), device="cuda")
        logits = model(tokens[:, :-1])
        loss = nn.functional.cross_entropy(logits.reshape(-1, WORDS), tokens[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def counter(what):
    """A counter of this process's threads, those to come as well (perf_event_open); None: there is none."""
    inherit, user_only, threads_only = 1 << 1, 3 << 5, 1 << 35
    attributes = struct.pack("=IIQQQQQ72x", 0, 120, what, 0, 0, 0, inherit | user_only | threads_only)
    file = ctypes.CDLL(None, use_errno=True).syscall(298, attributes, 0, -1, -1, 0)
    return None if file < 0 else file


def count(file):
    return int.from_bytes(os.read(file, 8), "little") if file is not None else 0


def block_events():
    """How many blocks PyTorch's allocator gave out and took back so far."""
    counters = torch.cuda.memory_stats()
    return counters["allocation.all.allocated"] + counters["allocation.all.freed"]


def main():
    cycles_of, instructions_of = 0, 1
    counters = counter(cycles_of), counter(instructions_of)
    steps, history = (*map(int, sys.argv[1:]), *(150, 0)[len(sys.argv) - 1:])
    if history:
        torch.cuda.memory._record_memory_history()
    model = TinyGPT().to("cuda")
    optimizer = torch.optim.AdamW(model.parameters())
    train(model, optimizer, 5)
    before = block_events(), *map(count, counters), time.process_time(), time.perf_counter()
    train(model, optimizer, steps)
    after = block_events(), *map(count, counters), time.process_time(), time.perf_counter()
    events, cycles, instructions, processor, seconds = (b - a for a, b in zip(before, after))
    print(seconds, processor, cycles, instructions, events)


main()
