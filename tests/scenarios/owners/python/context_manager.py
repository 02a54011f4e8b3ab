# SPDX-License-Identifier: MIT
# OWNER page (local of scope.gen) in module __main__: 64 KiB
"""A context manager made of a generator, which was entered and not left."""

import contextlib

from simgpu import KIB, Buffer


@contextlib.contextmanager
def mapped():
    page = Buffer(64 * KIB)
    yield page.pointer


scope = mapped()
scope.__enter__()
