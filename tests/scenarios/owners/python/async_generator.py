# SPDX-License-Identifier: MIT
# OWNER page (local of pages) in module __main__: 64 KiB
"""An asynchronous generator between two values."""

from simgpu import KIB, Buffer


async def load():
    while True:
        page = Buffer(64 * KIB)
        yield page.pointer


pages = load()
try:
    pages.__anext__().send(None)
except StopIteration as first:
    print(first.value > 0)
