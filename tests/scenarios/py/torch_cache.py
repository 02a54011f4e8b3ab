# SPDX-License-Identifier: MIT
"""Nothing is kept but the framework's cache, which is large after one large step; or the large ones are kept."""

import sys

from standin import Tensor

kept = []
for step in range(120):
    x = Tensor((8 << 20) if step % 10 == 0 else (1 << 20))  # LEAK
    y = Tensor(2 << 20)
    if sys.argv[1:] == ["leak"] and step % 10 == 0:
        kept.append(x)
    del x, y
