# SPDX-License-Identifier: MIT
# OWNER plugin['kept'][*] in module __main__: 2 x 64 KiB
"""A namespace that code was executed in."""

plugin = {}
code = """
from simgpu import KIB, Buffer

kept = []


def load():
    kept.append(Buffer(64 * KIB))


load()
load()
"""
exec(code, plugin)
