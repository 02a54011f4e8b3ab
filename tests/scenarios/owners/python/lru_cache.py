# SPDX-License-Identifier: MIT
# OWNER load.cache[*]{*}|load.cache[*] in module __main__: 4 x 64 KiB
"""functools.lru_cache, bounded."""

import functools

from simgpu import KIB, Buffer


@functools.lru_cache(maxsize=4)
def load(number):
    return Buffer(64 * KIB)


for number in range(10):
    load(number)
