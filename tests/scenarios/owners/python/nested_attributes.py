# SPDX-License-Identifier: MIT
# OWNER app.model.encoder.weight in module __main__: 1 MiB
# OWNER app.model.encoder.bias in module __main__: 4 KiB
# OWNER app.model.heads[*].weight in module __main__: 2 x 64 KiB
"""Objects within objects."""

from simgpu import KIB, MIB, Buffer


class Linear:
    def __init__(self, size, bias=0):
        self.weight = Buffer(size)
        self.bias = Buffer(bias) if bias else None


class Model:
    def __init__(self):
        self.encoder = Linear(MIB, 4 * KIB)
        self.heads = [Linear(64 * KIB), Linear(64 * KIB)]


class App:
    def __init__(self):
        self.model = Model()


app = App()
