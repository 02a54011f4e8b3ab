# SPDX-License-Identifier: MIT
# OWNER loop._ready[*]._args[0] in module __main__: 64 KiB
# OWNER batch (local of loop._ready[*]._callback._coro) in module __main__: 128 KiB
"""What an event loop runs at its next turn: a callback's argument, and a task that nobody keeps."""

import asyncio

from simgpu import KIB, Buffer


async def load():
    batch = Buffer(128 * KIB)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return batch


async def start():
    asyncio.ensure_future(load())
    await asyncio.sleep(0)


loop = asyncio.new_event_loop()
loop.run_until_complete(start())
loop.call_soon(print, Buffer(64 * KIB))
