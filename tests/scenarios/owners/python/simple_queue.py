# SPDX-License-Identifier: MIT
# OWNER jobs[*] in module __main__: 3 x 64 KiB
"""queue.SimpleQueue, which is written in C."""

import queue

from simgpu import KIB, Buffer

jobs = queue.SimpleQueue()
for _ in range(3):
    jobs.put(Buffer(64 * KIB))
