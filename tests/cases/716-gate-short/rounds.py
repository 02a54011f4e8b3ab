# SPDX-License-Identifier: MIT
"""rounds.py N kept|clean: a model, then N rounds, each of which keeps a feature tensor or does not."""

import sys

from standin import Tensor

model = [Tensor(1 << 18) for _ in range(12)]
features = []
for step in range(int(sys.argv[1])):
    x = Tensor(1 << 16)
    hidden = [Tensor(1 << 16) for _ in range(4)]
    if sys.argv[2] == "kept":
        features.append(Tensor(1 << 17))  # KEPT
    del x, hidden
