# SPDX-License-Identifier: MIT
# OWNER answer in module __main__: 64 KiB
"""The result of a future of asyncio."""

import asyncio

from simgpu import KIB, Buffer

loop = asyncio.new_event_loop()
answer = loop.create_future()
answer.set_result(Buffer(64 * KIB))
