# SPDX-License-Identifier: MIT
"""A generation appends each token's keys and values to a cache, which goes when it returns, or is kept and used on."""

from simgpu import KIB, MIB, Buffer, leaking, work

model = Buffer(8 * MIB)
cache = []


def append(size):
    return Buffer(size)  # LEAK


def generate(past):
    start = len(past) and past.pop().tokens
    for token in range(start, start + 40):
        longer = append((token + 1) * 16 * KIB)
        longer.tokens = token + 1
        past[:] = [longer]
        work()


for prompt in range(1 if not leaking else 2):
    generate(cache if leaking else [])
