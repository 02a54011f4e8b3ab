# SPDX-License-Identifier: MIT
# OWNER load.cache[*] in module __main__: 3 x 64 KiB
"""functools.lru_cache(maxsize=None): a dictionary inside."""

import functools

from simgpu import KIB, Buffer


@functools.lru_cache(maxsize=None)
def load(number):
    return Buffer(64 * KIB)


for number in range(3):
    load(number)
