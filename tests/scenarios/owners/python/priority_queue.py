# SPDX-License-Identifier: MIT
# OWNER heap[*][1] in module __main__: 3 x 32 KiB
"""A heap of pairs."""

import heapq

from simgpu import KIB, Buffer

heap = []
for priority in (3, 1, 2):
    heapq.heappush(heap, (priority, Buffer(32 * KIB)))
