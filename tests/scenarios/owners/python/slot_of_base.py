# SPDX-License-Identifier: MIT
# OWNER layer.weight in module __main__: 64 KiB
# OWNER layer.running_mean in module __main__: 8 KiB
# OWNER layer.extra in module __main__: 16 KiB
"""Slots of a class and of its base, and an attribute beside them."""

from simgpu import KIB, Buffer


class Layer:
    __slots__ = ("weight",)


class Norm(Layer):
    __slots__ = ("running_mean", "__dict__")


layer = Norm()
layer.weight = Buffer(64 * KIB)
layer.running_mean = Buffer(8 * KIB)
layer.extra = Buffer(16 * KIB)
