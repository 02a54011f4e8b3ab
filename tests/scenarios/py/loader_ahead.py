# SPDX-License-Identifier: MIT
"""A loader's thread is some batches ahead, so it is done when the training still has these before it; batches are
dropped once they are used, or kept."""

import queue
import threading
import time

from simgpu import KIB, Buffer, leaking, work

ready, kept = queue.Queue(maxsize=6), []


def load():
    for _ in range(50):
        ready.put(Buffer(256 * KIB))  # LEAK


threading.Thread(target=load, daemon=True).start()
for _ in range(50):
    batch = ready.get()
    work()
    time.sleep(0.003)
    if leaking:
        kept.append(batch)
    del batch
