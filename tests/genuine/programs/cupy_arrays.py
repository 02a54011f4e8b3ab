# SPDX-License-Identifier: MIT
"""CuPy where there is a driver's library and no device: what it says of that."""
import cupy

print("versions", cupy.cuda.runtime.driverGetVersion(), cupy.cuda.runtime.runtimeGetVersion())
print("available", cupy.cuda.is_available())
for what in (cupy.cuda.runtime.getDeviceCount, lambda: cupy.zeros(4), lambda: cupy.cuda.alloc_pinned_memory(4096),
             lambda: cupy.cuda.malloc_managed(4096), lambda: cupy.cuda.runtime.malloc(4096), cupy.cuda.runtime.memGetInfo):
    try:
        print("succeeded", what())
    except Exception as error:  # pylint: disable=broad-except
        print(type(error).__name__, error)
