# SPDX-License-Identifier: MIT
# OWNER tasks[*]._context['scratch'] in module __main__: 3 x 64 KiB
"""A context variable that each task of asyncio sets for itself."""

import asyncio
import contextvars

from simgpu import KIB, Buffer

scratch = contextvars.ContextVar("scratch")


async def serve(forever):
    scratch.set(Buffer(64 * KIB))
    await forever


async def start():
    global tasks
    loop = asyncio.get_running_loop()
    tasks = [loop.create_task(serve(loop.create_future())) for _ in range(3)]
    await asyncio.sleep(0)


loop = asyncio.new_event_loop()
loop.run_until_complete(start())
