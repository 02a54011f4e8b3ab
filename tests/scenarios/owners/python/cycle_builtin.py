# SPDX-License-Identifier: MIT
# OWNER list[*]|dict['items'][*] in cycle: 3 x 64 KiB
"""A cycle of lists and dicts alone, that the collector has not seen."""

import gc

from simgpu import KIB, Buffer

gc.disable()


def make():
    items = [Buffer(64 * KIB) for _ in range(3)]
    items.append({"items": items})


make()
