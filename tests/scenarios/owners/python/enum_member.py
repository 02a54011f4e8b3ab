# SPDX-License-Identifier: MIT
# OWNER Table.SMALL._value_ in module __main__: 16 KiB
# OWNER Table.LARGE._value_ in module __main__: 64 KiB
"""The values of an enumeration."""

import enum

from simgpu import KIB, Buffer


class Table(enum.Enum):
    SMALL = Buffer(16 * KIB)
    LARGE = Buffer(64 * KIB)
