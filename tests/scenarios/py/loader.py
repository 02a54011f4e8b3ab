# SPDX-License-Identifier: MIT
"""A loader's thread pins each batch; used batches go back to it, or pile up."""

import queue
import threading

from simgpu import KIB, Pinned, leaking, work

ready, used = queue.Queue(maxsize=4), []
free = queue.Queue()


def next_batch():
    if not leaking and not free.empty():
        return free.get()
    return Pinned(128 * KIB)  # LEAK


def load():
    for _ in range(160):
        ready.put(next_batch())


threading.Thread(target=load, daemon=True).start()
for _ in range(160):
    batch = ready.get()
    work()
    if leaking:
        used.append(batch)
    else:
        free.put(batch)
