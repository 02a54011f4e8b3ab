# SPDX-License-Identifier: MIT
# OWNER cache['request 7'] in module __main__: 128 KiB
# OWNER cache['request 9'] in module __main__: 256 KiB
"""A cache from which entries were deleted."""

from simgpu import KIB, Buffer

cache = {}
for request in range(9):
    cache[f"request {request}"] = Buffer((128 if request == 7 else 64) * KIB)
for request in (0, 1, 2, 3, 4, 5, 6, 8):
    del cache[f"request {request}"]
cache["request 9"] = Buffer(256 * KIB)
