# SPDX-License-Identifier: MIT
"""PyTorch where there is a driver's library and no device: what it says of that."""
import warnings

import torch

warnings.simplefilter("always")
print("version", torch.version.cuda)
print("available", torch.cuda.is_available(), torch.cuda.device_count())
for what in (lambda: torch.zeros(4, device="cuda"), lambda: torch.zeros(4).pin_memory(), torch.cuda.mem_get_info):
    try:
        print("succeeded", what())
    except Exception as error:  # pylint: disable=broad-except
        print(type(error).__name__, error)
