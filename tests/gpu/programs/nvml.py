# SPDX-License-Identifier: MIT
"""The process's memory by NVML, by the driver and by PyTorch, at three levels. One JSON line."""
import json
import os

import pynvml
import torch

pynvml.nvmlInit()
gpu = pynvml.nvmlDeviceGetHandleByIndex(0)


def by_nvml():
    mine = [p.usedGpuMemory for p in pynvml.nvmlDeviceGetComputeRunningProcesses(gpu) if p.pid == os.getpid()]
    return {"process": mine[0] if mine else None, "device": pynvml.nvmlDeviceGetMemoryInfo(gpu).used}


rows = []
kept = []
for size in (1, 64 << 20, 1 << 30):
    kept.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    rows.append({"reserved": torch.cuda.memory_reserved(), "driver_used": total - free, **by_nvml()})
print(json.dumps(rows))
