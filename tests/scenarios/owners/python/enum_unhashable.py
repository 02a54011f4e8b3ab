# SPDX-License-Identifier: MIT
# OWNER Table.ROWS._value_[*] in module __main__: 2 x 40 KiB
"""Members of an enumeration whose values cannot be keys."""

import enum

from simgpu import KIB, Buffer


class Table(enum.Enum):
    ROWS = [Buffer(40 * KIB), Buffer(40 * KIB)]
