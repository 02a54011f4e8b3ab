# SPDX-License-Identifier: MIT
# OWNER blocks[*] (default argument of Pool.reserve) in module __main__: 2 x 64 KiB
# OWNER spare[*] (default argument of Pool.release) in module __main__: 32 KiB, 16 KiB
"""Defaults of a static method and of a class method."""

from simgpu import KIB, Buffer


class Pool:
    @staticmethod
    def reserve(blocks=[]):
        blocks.append(Buffer(64 * KIB))

    @classmethod
    def release(cls, size, spare=[]):
        spare.append(Buffer(size))


Pool.reserve()
Pool.reserve()
Pool.release(32 * KIB)
Pool.release(16 * KIB)
