# SPDX-License-Identifier: MIT
# OWNER frozen{*} in module __main__: 3 x 32 KiB
"""A frozenset."""

from simgpu import KIB, Buffer

frozen = frozenset(Buffer(32 * KIB) for _ in range(3))
