# SPDX-License-Identifier: MIT
"""moments_program.py KIND SIZE SECONDS: device memory is kept in a local list that grows, while the program does what KIND says with
as much of its own memory (MiB; objects: thousands). Prints the rounds, and the ms of the processor for each."""

import ctypes
import mmap
import sys
import threading
import time

from simgpu import KIB, Buffer

kind, size, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
libc = ctypes.CDLL(None)
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
libc.memchr.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
PIECES = 16
kept = []


def memory():
    made = [mmap.mmap(-1, (size << 20) // PIECES, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) for _ in range(PIECES)]
    starts = [ctypes.addressof(ctypes.c_char.from_buffer(one)) for one in made]
    for start in starts:
        libc.memset(start, 1, (size << 20) // PIECES)
    return made, starts


def write(pieces, value):
    for start in pieces:
        libc.memset(start, value, (size << 20) // PIECES)


def threads(starts):
    running = [threading.Thread(target=write, args=([start], 2)) for start in starts]
    for one in running:
        one.start()
    for one in running:
        one.join()


def training():
    import torch
    model = torch.nn.Sequential(torch.nn.Linear(size, size), torch.nn.ReLU(), torch.nn.Linear(size, size))
    optimizer = torch.optim.Adam(model.parameters())
    data = torch.randn(64, size)

    def step():
        optimizer.zero_grad()
        model(data).square().mean().backward()
        optimizer.step()
    return step


def work():
    if kind == "training":
        return training()
    if kind == "objects":
        held = [[i] for i in range(size * 1000)]
        return lambda: sum(len(one) for one in held[::7])
    kept.extend(memory())
    starts = kept[1]
    return {"rewritten": lambda: write(starts, 2),
            "read": lambda: [libc.memchr(start, 0, (size << 20) // PIECES) for start in starts],
            "arrays": lambda: write(starts[:2], 3),
            "threads": lambda: threads(starts)}[kind]


def main():
    history, step = [], work()
    step()
    end, rounds, began = time.monotonic() + seconds, 0, time.process_time()
    while time.monotonic() < end:
        history.append(Buffer(64 * KIB))
        step()
        rounds += 1
    print(rounds, (time.process_time() - began) / rounds * 1000)


main()
