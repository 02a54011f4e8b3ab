# SPDX-License-Identifier: MIT
# OWNER batch in frame main: 65536
# NEEDS numba
"""Numba's array in a frame."""

import os

from numba import cuda


def main():
    batch = cuda.device_array(65536, dtype="uint8")
    os._exit(0 if batch is not None else 1)


main()
