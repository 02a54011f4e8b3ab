# SPDX-License-Identifier: MIT
"""A generation's tokens, appended to by a framework's operation, go when it returns; or are kept to the end."""

import sys

from standin import Tensor

model = [Tensor(1 << 20) for _ in range(4)]


def append(size):
    return Tensor(size)  # LEAK


def generate():
    tokens = None
    for step in range(60):
        tokens = append((step + 1) * 4096)
        work = Tensor(2 << 20)
        del work
    return tokens


tokens = generate()
if sys.argv[1:] != ["leak"]:
    del tokens
