# SPDX-License-Identifier: MIT
# OWNER shards[*] in module __main__: 100 x 16 KiB
"""More names in a dictionary than anyone wants to read."""

from simgpu import KIB, Buffer

shards = {f"shard-{number}": Buffer(16 * KIB) for number in range(100)}
