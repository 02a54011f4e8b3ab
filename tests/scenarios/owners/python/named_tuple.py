# SPDX-License-Identifier: MIT
# OWNER sample[*] in module __main__: 64 KiB, 4 KiB
"""A named tuple."""

import collections

from simgpu import KIB, Buffer

Sample = collections.namedtuple("Sample", "image label")
sample = Sample(Buffer(64 * KIB), Buffer(4 * KIB))
