# SPDX-License-Identifier: MIT
# OWNER page (local of read()) in module __main__: 128 KiB
"""The cause of an exception that is kept."""

from simgpu import KIB, Buffer

last = None


def read():
    page = Buffer(128 * KIB)
    raise OSError(f"cannot read {page.pointer}")


def load():
    try:
        read()
    except OSError as error:
        raise RuntimeError("cannot load") from error


try:
    load()
except RuntimeError as error:
    last = error
