# SPDX-License-Identifier: MIT
# OWNER batch (local of jobs._getters[*]._callbacks._coro)|batch (local of jobs._getters[*]._callbacks.__self__._coro) in frame main: 3 x 64 KiB
"""Workers of a server that wait for a queue; nobody keeps their tasks."""

import asyncio
import os

from simgpu import KIB, Buffer


async def worker(jobs):
    while True:
        batch = Buffer(64 * KIB)
        job = await jobs.get()
        del job, batch


async def main():
    jobs = asyncio.Queue()
    for _ in range(3):
        asyncio.ensure_future(worker(jobs))
    await asyncio.sleep(0.01)
    os._exit(0)


asyncio.run(main())
