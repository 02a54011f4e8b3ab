# SPDX-License-Identifier: MIT
# OWNER buffer in frame worker: 64 KiB
"""What a thread was started with."""

import threading

from simgpu import KIB, Buffer

ready, never = threading.Event(), threading.Event()


def worker(buffer):
    ready.set()
    never.wait()
    print(buffer)


threading.Thread(target=worker, args=(Buffer(64 * KIB),), daemon=True).start()
ready.wait()
