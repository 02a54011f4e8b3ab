# SPDX-License-Identifier: MIT
"""functools.lru_cache over device memory: of 16 entries, or of any number."""

import functools

from simgpu import KIB, Buffer, leaking, work


@functools.lru_cache(maxsize=None if leaking else 16)
def table(n):
    return Buffer(64 * KIB + n)  # LEAK


for i in range(300):
    table(i)
    work()
