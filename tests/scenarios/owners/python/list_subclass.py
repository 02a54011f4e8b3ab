# SPDX-License-Identifier: MIT
# OWNER bank[*] in module __main__: 3 x 64 KiB
# OWNER bank.spare in module __main__: 8 KiB
"""A class that is a list."""

from simgpu import KIB, Buffer


class Bank(list):
    pass


bank = Bank(Buffer(64 * KIB) for _ in range(3))
bank.spare = Buffer(8 * KIB)
