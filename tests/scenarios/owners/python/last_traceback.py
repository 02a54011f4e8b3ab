# SPDX-License-Identifier: MIT
# OWNER batch (local of load()) in exception: 64 KiB
# STATUS 1
"""The frames of an error that ended the program."""

from simgpu import KIB, Buffer


def load():
    batch = Buffer(64 * KIB)
    raise ValueError(f"cannot decode {batch}")


load()
