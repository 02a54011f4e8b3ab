# SPDX-License-Identifier: MIT
# OWNER page (local of read()) in module __main__: 128 KiB
"""An exception raised while another one was handled."""

from simgpu import KIB, Buffer

last = None


def read():
    page = Buffer(128 * KIB)
    raise OSError(f"cannot read {page.pointer}")


try:
    try:
        read()
    except OSError:
        raise KeyError("page")
except KeyError as error:
    last = error
