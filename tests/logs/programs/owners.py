# SPDX-License-Identifier: MIT
"""Owners in Python at the end: lists in a dict, a second name, a closure, what has a bound, what only C leads to."""

import collections
import ctypes
import functools

from simgpu import Buffer

cache = {"a": [Buffer(65536)], "b": [Buffer(65536)]}
again = cache["a"]


def closure():
    held = Buffer(8192)
    return lambda: held


call = closure()


@functools.lru_cache(maxsize=40)
def look_up(key):
    return Buffer(65536)


latest = collections.deque(maxlen=20)
for number in range(8):
    look_up(number)
    latest.append(Buffer(4096))

unreached = [Buffer(16384) for _ in range(6)]
ctypes.pythonapi.Py_IncRef(ctypes.py_object(unreached))
del unreached
