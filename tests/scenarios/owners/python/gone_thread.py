# SPDX-License-Identifier: MIT
# GONE kept[*] in frame worker: 40 x 64 KiB
"""A list of a thread that has ended."""

import threading

from simgpu import KIB, Buffer


def worker():
    kept = []
    for _ in range(40):
        kept.append(Buffer(64 * KIB))


thread = threading.Thread(target=worker)
thread.start()
thread.join()
