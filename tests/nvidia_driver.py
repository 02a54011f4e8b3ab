# SPDX-License-Identifier: MIT
"""Whether programs can use NVIDIA's driver here. A GPU node's container may have the device files without the
library, so both are checked, as by `vramtrace run`. As a program: exit status 0 if so."""

import ctypes
import os
import sys

FILES = ("/dev/nvidiactl", "/dev/nvhost-ctrl", "/dev/nvmap", "/dev/dxg")


def has_library():
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def has_driver():
    return any(map(os.path.exists, FILES)) and has_library()


if __name__ == "__main__":
    sys.exit(not has_driver())
