# SPDX-License-Identifier: MIT
# OWNER models[*] in module __main__: 2 x 4 KiB
# OWNER extras.data[*] in module __main__: 2 x 64 KiB
"""A WeakKeyDictionary holds its values for as long as somebody else has the keys."""

import weakref

from simgpu import KIB, Buffer

extras = weakref.WeakKeyDictionary()
models = []
for _ in range(2):
    model = Buffer(4 * KIB)
    extras[model] = Buffer(64 * KIB)
    models.append(model)
del model
