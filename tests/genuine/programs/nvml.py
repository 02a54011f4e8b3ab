# SPDX-License-Identifier: MIT
"""NVML where the driver is not loaded: what it says of that."""
import ctypes

nvml = ctypes.CDLL("libnvidia-ml.so.1")
nvml.nvmlErrorString.restype = ctypes.c_char_p
count, text = ctypes.c_uint(), ctypes.create_string_buffer(96)
for name, call in (("nvmlInit_v2", nvml.nvmlInit_v2), ("nvmlInitWithFlags", lambda: nvml.nvmlInitWithFlags(0)),
                   ("nvmlDeviceGetCount_v2", lambda: nvml.nvmlDeviceGetCount_v2(ctypes.byref(count))),
                   ("nvmlSystemGetDriverVersion", lambda: nvml.nvmlSystemGetDriverVersion(text, 96)), ("nvmlShutdown", nvml.nvmlShutdown)):
    result = call()
    print(name, result, nvml.nvmlErrorString(result).decode())
