# SPDX-License-Identifier: MIT
# OWNER buffer (default argument of callbacks[*]) in module __main__: 3 x 32 KiB
"""Lambdas that bind their variable by a default."""

from simgpu import KIB, Buffer

callbacks = []
for _ in range(3):
    callbacks.append(lambda buffer=Buffer(32 * KIB): buffer)
