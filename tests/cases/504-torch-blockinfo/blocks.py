# SPDX-License-Identifier: MIT
"""Blocks of two streams and two private pools, some longer than what was asked for. Prints the address of each."""

import json

from standin import Tensor, empty_cache, pool, stream

MIB = 1 << 20
kept, names = [], {}


def take(name, size):
    kept.append(Tensor(size))
    names[name] = kept[-1].address


take("small", 1000)
take("small, second", 2000)
take("large", 5 * MIB + 100)
take("large, second", 6 * MIB)
with stream(2):
    take("stream", 7 * MIB)
    with pool(1):
        take("pool 1", 3 * MIB)
        take("pool 1, small", 700)
with pool(2):
    take("pool 2", 30 * MIB)
kept[2] = None
take("rest", 5 * MIB - 300000)
kept[3] = None
take("rest too short to say", 6 * MIB - 511)
kept.clear()
empty_cache()  # what comes back may have the same size, so only the driver's calls tell
with stream(3):
    take("again", 7 * MIB)
print(json.dumps(names))
