# SPDX-License-Identifier: MIT
# OWNER batch (local of task._fut_waiter._children[*]._coro)|batch (local of future._fut_waiter._children[*]._coro) in frame: 3 x 64 KiB
"""A coroutine waits for tasks that only asyncio.gather has."""

import asyncio
import os

from simgpu import KIB, Buffer


async def load(event):
    batch = Buffer(64 * KIB)
    await event.wait()
    return batch


async def main():
    event = asyncio.Event()
    asyncio.get_running_loop().call_later(0.01, os._exit, 0)
    await asyncio.gather(*[load(event) for _ in range(3)])


asyncio.run(main())
