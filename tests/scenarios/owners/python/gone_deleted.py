# SPDX-License-Identifier: MIT
# GONE history[*] in module __main__: 40 x 64 KiB
"""A global that is deleted before the end."""

from simgpu import KIB, Buffer


history = []
for _ in range(40):
    history.append(Buffer(64 * KIB))
del history
