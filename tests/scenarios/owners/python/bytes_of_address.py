# SPDX-License-Identifier: MIT
# MAYBE message in module __main__: 64 KiB
"""An address in a message's bytes."""

import struct

from simgpu import KIB, address

message = struct.pack("<QQ", 1, address(64 * KIB))
