# SPDX-License-Identifier: MIT
"""Everything in the module. `one`: a list has the losses and the probabilities. `three`: three lists, filled by three lines
at three rates. `apart`: two lists, filled at one rate, that have nothing to do with each other."""

import sys

from standin import Tensor

KIB = 1 << 10
scene = sys.argv[1]
history, a, b, c = [], [], [], []
for step in range(120):
    Tensor(64 * KIB)
    if scene == "one":
        out = [Tensor(64 * KIB) for _ in range(2)]  # LEAK a
        loss = Tensor(KIB)  # LEAK a
        history.append((out, loss))
    if scene == "three":
        a.append(Tensor(16 * KIB))  # LEAK a
        if step % 2 == 0:
            b.append(Tensor(32 * KIB))  # LEAK b
        if step % 5 == 0:
            c.append(Tensor(48 * KIB))  # LEAK c
    if scene == "apart":
        a.append(Tensor(16 * KIB))  # LEAK a
        b.append(Tensor(32 * KIB))  # LEAK b
    if scene == "killed":  # as `one`; how they went at exit is not known
        history.append(([Tensor(64 * KIB) for _ in range(2)],  # LEAK a
                        Tensor(KIB)))  # LEAK a
if scene == "killed":
    import os
    os._exit(0)
