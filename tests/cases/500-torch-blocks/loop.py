# SPDX-License-Identifier: MIT
"""A training-like loop on the stand-in allocator. After each step it prints the allocator's own counters and sets a
mark of the same number, so that the log can be held against them step by step. With `threads` as argument: four
threads at once, and the counters at the end only."""

import ctypes
import json
import random
import sys
import threading

from standin import Tensor, empty_cache, profiler, stats

DEVICES = 2
mark = getattr(ctypes.CDLL(None), "vramtrace_v1_mark", lambda name: None)  # untraced: nothing


def step(rng, kept, number):
    activations = [Tensor(rng.choice((300, 5000, 70000, 1 << 20, 3 << 20, 12 << 20)), rng.randrange(DEVICES))
                   for _ in range(rng.randrange(1, 8))]
    if number % 3 == 0:
        kept.append(activations.pop())
    if len(kept) > 12 and rng.random() < 0.5:
        kept.pop(rng.randrange(len(kept)))
    return activations


def run(seed, steps, report):
    rng, kept, last = random.Random(seed), [], None
    for number in range(steps):
        last = step(rng, kept, number)
        if number % 25 == 24 and report:
            last = None
            empty_cache()
        if report:
            print(json.dumps([stats(d) for d in range(DEVICES)]), flush=False)
            mark(b"step %d" % number)
    return kept, last


if sys.argv[1:] == ["threads"]:
    threads = [threading.Thread(target=run, args=(seed, 150, False)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps([stats(d) for d in range(DEVICES)]))
    mark(b"end")
else:
    held = run(7, 400, True)
print(json.dumps(profiler()))
