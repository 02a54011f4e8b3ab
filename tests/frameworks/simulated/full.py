# SPDX-License-Identifier: MIT
"""Fills the device until PyTorch is refused, and then gives everything back. With expandable segments too (the test
sets PYTORCH_CUDA_ALLOC_CONF): PyTorch then asks NVML and maps memory itself."""

import torch


def main():
    kept = []
    try:
        while True:
            kept.append(torch.empty(50 << 20, dtype=torch.uint8, device="cuda"))
    except torch.cuda.OutOfMemoryError as error:
        assert "MiB is free" in str(error) and "memory in use" in str(error), error
    assert len(kept) == 10, len(kept)
    kept.clear()
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() == 0


main()
