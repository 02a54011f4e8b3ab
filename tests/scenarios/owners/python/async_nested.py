# SPDX-License-Identifier: MIT
# OWNER batch (local of task._coro{*}) in module __main__: 64 KiB
"""A coroutine that a task's coroutine waits for."""

import asyncio

from simgpu import KIB, Buffer


async def load(forever):
    batch = Buffer(64 * KIB)
    await forever
    return batch


async def job(forever):
    return await load(forever)


async def start():
    global task
    task = asyncio.get_running_loop().create_task(job(asyncio.get_running_loop().create_future()))
    await asyncio.sleep(0)


loop = asyncio.new_event_loop()
loop.run_until_complete(start())
