# SPDX-License-Identifier: MIT
# OWNER record.image in module __main__: 64 KiB
# OWNER record.label in module __main__: 4 KiB
"""An object whose __dict__ was asked for."""

from simgpu import KIB, Buffer


class Record:
    def __init__(self, **fields):
        self.__dict__.update(fields)


record = Record(image=Buffer(64 * KIB), label=Buffer(4 * KIB))
print(sorted(vars(record)))
