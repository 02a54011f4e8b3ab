# SPDX-License-Identifier: MIT
"""Numba where there is a driver's library and no device: what it says of that."""
from numba import cuda

print("available", cuda.is_available())
for what in (lambda: cuda.device_array(4), lambda: cuda.pinned_array(4), lambda: cuda.to_device([1, 2]), cuda.current_context):
    try:
        print("succeeded", what())
    except Exception as error:  # pylint: disable=broad-except
        print(type(error).__name__, error)
