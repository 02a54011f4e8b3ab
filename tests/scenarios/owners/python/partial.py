# SPDX-License-Identifier: MIT
# OWNER task.args[0] in module __main__: 64 KiB
# OWNER task.keywords['target'] in module __main__: 128 KiB
"""functools.partial."""

import functools

from simgpu import KIB, Buffer


def copy(source, target=None):
    return source, target


task = functools.partial(copy, Buffer(64 * KIB), target=Buffer(128 * KIB))
