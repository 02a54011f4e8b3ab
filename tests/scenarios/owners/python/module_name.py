# SPDX-License-Identifier: MIT
# OWNER weights in module __main__: 2 MiB
# OWNER bias in module __main__: 4 KiB
"""Two names of the script."""

from simgpu import KIB, MIB, Buffer

weights = Buffer(2 * MIB)
bias = Buffer(4 * KIB)
