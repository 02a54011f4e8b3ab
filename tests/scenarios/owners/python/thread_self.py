# SPDX-License-Identifier: MIT
# OWNER self.image in frame Worker.run | self.image in frame run: 256 KiB
"""A thread's object, which only its own frame holds."""

import threading

from simgpu import KIB, Buffer

ready, never = threading.Event(), threading.Event()


class Worker:
    def __init__(self):
        self.image = Buffer(256 * KIB)

    def run(self):
        ready.set()
        never.wait()


threading.Thread(target=Worker().run, daemon=True).start()
ready.wait()
