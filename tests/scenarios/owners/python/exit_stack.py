# SPDX-License-Identifier: MIT
# OWNER stack._exit_callbacks[*][1].__self__.buffer in module __main__: 2 x 64 KiB
"""contextlib.ExitStack with callbacks."""

import contextlib

from simgpu import KIB, Buffer


class Session:
    def __init__(self):
        self.buffer = Buffer(64 * KIB)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


stack = contextlib.ExitStack()
stack.enter_context(Session())
stack.enter_context(Session())
