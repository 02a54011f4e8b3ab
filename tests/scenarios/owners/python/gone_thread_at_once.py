# SPDX-License-Identifier: MIT
# GONE kept[*] in frame worker: 32 x 64 KiB
"""A list of a thread that ends while its memory is still looked through: it has much of it."""

import threading

from simgpu import KIB, Buffer


def worker():
    kept, data = [], [[number] for number in range(500000)]
    for _ in range(32):
        kept.append(Buffer(64 * KIB))
    return len(data)


thread = threading.Thread(target=worker)
thread.start()
thread.join()
