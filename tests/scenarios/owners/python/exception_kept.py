# SPDX-License-Identifier: MIT
# OWNER batch (local of load()) in module __main__: 2 x 64 KiB
"""Exceptions that are kept in a list keep their frames."""

from simgpu import KIB, Buffer

failures = []


def load():
    batch = Buffer(64 * KIB)
    raise ValueError(f"cannot decode {batch.pointer}")


for _ in range(2):
    try:
        load()
    except ValueError as error:
        failures.append(error)
