# SPDX-License-Identifier: MIT
"""The first row of each batch is kept until the device is full: with its whole batch, or alone."""
# sim: 512M
# leaky: cause capacity at KEPT; advice for views that see; advice `rows` keeps
# clean: passes
import sys

import torch

LEAKY = sys.argv[1] == "leaky"


def main():
    rows = []
    for _ in range(200):
        batch = torch.randn(64, 1 << 14, device="cuda")  # KEPT
        rows.append(batch[0] if LEAKY else batch[0].mean().item())
    print(len(rows))


main()
