# SPDX-License-Identifier: MIT
# OWNER answer._callbacks.args[0] in module __main__: 64 KiB
# OWNER answer._callbacks[0][0].args[0] in module __main__: 128 KiB
"""Callbacks of a future: the first one, and the others."""

import asyncio
import functools

from simgpu import KIB, Buffer


def notify(batch, done):
    return batch, done


loop = asyncio.new_event_loop()
answer = loop.create_future()
answer.add_done_callback(functools.partial(notify, Buffer(64 * KIB)))
answer.add_done_callback(functools.partial(notify, Buffer(128 * KIB)))
