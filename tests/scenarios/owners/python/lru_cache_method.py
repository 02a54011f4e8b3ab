# SPDX-License-Identifier: MIT
# OWNER Model.features.cache[*] in module __main__: 2 x 32 KiB
"""functools.lru_cache on a method, which keeps the object too."""

import functools

from simgpu import KIB, Buffer


class Model:
    @functools.lru_cache(maxsize=None)
    def features(self, size):
        return Buffer(size)


model = Model()
model.features(32 * KIB)
Model().features(32 * KIB)
