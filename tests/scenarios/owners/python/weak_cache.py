# SPDX-License-Identifier: MIT
# OWNER current[*] in module __main__: 2 x 64 KiB
"""A cache of weak references holds nothing; a list does."""

import weakref

from simgpu import KIB, Buffer

cache = weakref.WeakValueDictionary()
current = []
for name in ("a", "b", "c"):
    buffer = cache[name] = Buffer(64 * KIB)
    if name != "b":
        current.append(buffer)
del buffer
