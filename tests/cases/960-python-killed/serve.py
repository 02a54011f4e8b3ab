# SPDX-License-Identifier: MIT
"""Keeps a block for each line that it reads."""

import sys

from simgpu import KIB, MIB, Buffer

history = []
for line in sys.stdin:
    history.append(Buffer(MIB))
    Buffer(256 * KIB)
    print("done", flush=True)
