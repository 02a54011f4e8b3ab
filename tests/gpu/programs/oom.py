# SPDX-License-Identifier: MIT
"""Runs out of the device's memory in steps of 1 GiB, which a list holds; then as a whole."""
import torch

history = []


def step():
    history.append(torch.empty(1 << 30, dtype=torch.uint8, device="cuda"))


try:
    while True:
        step()
except torch.OutOfMemoryError as error:
    print("caught", str(error)[:200])
n = len(history)
step()
print(n)
