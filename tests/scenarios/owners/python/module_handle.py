# SPDX-License-Identifier: MIT
# OWNER handles[*] in module __main__: 64 KiB, 128 KiB, 256 KiB
"""Addresses that are c_void_p, as bindings made with ctypes keep them."""

from simgpu import KIB, Handle

handles = [Handle(size * KIB) for size in (64, 128, 256)]
