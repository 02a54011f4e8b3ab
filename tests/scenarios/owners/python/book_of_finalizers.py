# SPDX-License-Identifier: MIT
# OWNER nobody: 64 KiB
"""What weakref.finalize will be called with is in its book, which is no holder to name."""

import weakref

from simgpu import KIB, address


class Thing:
    pass


def drop(_):
    pass


thing = Thing()
weakref.finalize(thing, drop, address(64 * KIB)).atexit = False
