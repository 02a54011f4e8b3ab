# SPDX-License-Identifier: MIT
# OWNER by_label['cat'][*] in module __main__: 2 x 64 KiB
# OWNER by_label['dog'][0] in module __main__: 32 KiB
"""A defaultdict of lists."""

import collections

from simgpu import KIB, Buffer

by_label = collections.defaultdict(list)
by_label["cat"].append(Buffer(64 * KIB))
by_label["cat"].append(Buffer(64 * KIB))
by_label["dog"].append(Buffer(32 * KIB))
