# SPDX-License-Identifier: MIT
# OWNER page (local of waiting) in module __main__: 64 KiB
"""A coroutine that waits."""

from simgpu import KIB, Buffer


class Pause:
    def __await__(self):
        yield


async def load():
    page = Buffer(64 * KIB)
    await Pause()
    return page


waiting = load()
waiting.send(None)
