# SPDX-License-Identifier: MIT
# OWNER history[*] in module __main__: 3 x 64 KiB, 1 MiB
"""Results that are appended to a list of the script."""

from simgpu import KIB, MIB, Buffer

history = []
for epoch in range(3):
    history.append(Buffer(64 * KIB))
history.append(Buffer(MIB))
