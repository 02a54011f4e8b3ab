# SPDX-License-Identifier: MIT
# OWNER batch in frame load: 64 KiB
"""The program is ended while an exception is handled."""

import os

from simgpu import KIB, Buffer


def load():
    batch = Buffer(64 * KIB)
    try:
        raise ValueError("cannot decode")
    except ValueError:
        os._exit(0 if batch else 1)


load()
