"""Fills a third of a cache that takes as many entries as its first argument says, of 1 MiB each."""

import functools
import sys

import simgpu


@functools.lru_cache(maxsize=int(sys.argv[1]))
def look_up(key):
    return simgpu.Buffer(1 << 20)


for number in range(100):
    look_up(number)
    simgpu.Buffer(2 << 20)
