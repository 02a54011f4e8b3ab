# SPDX-License-Identifier: MIT
# OWNER table.data['weights'] in module __main__: 64 KiB
"""collections.UserDict."""

import collections

from simgpu import KIB, Buffer

table = collections.UserDict()
table["weights"] = Buffer(64 * KIB)
