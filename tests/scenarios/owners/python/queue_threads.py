# SPDX-License-Identifier: MIT
# OWNER jobs.queue[*] in module __main__: 4 x 64 KiB
"""A queue between threads, whose consumer does not come along."""

import queue
import threading

from simgpu import KIB, Buffer

jobs = queue.Queue()
done, never = threading.Event(), threading.Event()


def consume():
    jobs.get()
    done.set()
    never.wait()


threading.Thread(target=consume, daemon=True).start()
for _ in range(5):
    jobs.put(Buffer(64 * KIB))
done.wait()
