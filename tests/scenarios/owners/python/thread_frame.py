# SPDX-License-Identifier: MIT
# OWNER batch in frame worker: 64 KiB
# OWNER pending[*] in frame worker: 2 x 128 KiB
"""Locals of a thread that waits."""

import threading

from simgpu import KIB, Buffer

ready, never = threading.Event(), threading.Event()


def worker():
    batch = Buffer(64 * KIB)
    pending = [Buffer(128 * KIB) for _ in range(2)]
    ready.set()
    never.wait()
    print(batch, pending)


threading.Thread(target=worker, daemon=True).start()
ready.wait()
