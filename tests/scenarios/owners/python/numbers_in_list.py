# SPDX-License-Identifier: MIT
# OWNER addresses[*] in module __main__: 6 x 16 KiB
"""Bare addresses, as integers."""

from simgpu import KIB, address

addresses = [address(16 * KIB) for _ in range(6)]
