# SPDX-License-Identifier: MIT
# OWNER joined[*][0] in module __main__: 64 KiB
# OWNER read[0] in module __main__: 128 KiB
# OWNER pairs[0] in module __main__: 192 KiB
# OWNER numbered[0] in module __main__: 256 KiB
# OWNER some[0] in module __main__: 320 KiB
# OWNER around[0] in module __main__: 384 KiB
# OWNER chosen[0] in module __main__: 448 KiB
"""Iterators over iterators of lists that nobody else has."""

import itertools

from simgpu import KIB, Buffer

joined = itertools.chain([None], [Buffer(64 * KIB)])
read = map(len, [Buffer(128 * KIB)])
pairs = zip([1, 2], [Buffer(192 * KIB)])
numbered = enumerate([Buffer(256 * KIB)])
some = itertools.islice([Buffer(320 * KIB)], 1)
around = itertools.cycle([Buffer(384 * KIB)])
next(around)
chosen = filter(None, [Buffer(448 * KIB)])
