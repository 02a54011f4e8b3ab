# SPDX-License-Identifier: MIT
# OWNER model.layers[*] in module __main__: 2 x 64 KiB
"""Much was made and collected before, and its memory is used again."""

import gc

from simgpu import KIB, Buffer


class Model:
    def __init__(self):
        self.layers = [Buffer(64 * KIB), Buffer(64 * KIB)]


for _ in range(20):
    model = Model()
    model.me = model
del model.me
gc.collect()
