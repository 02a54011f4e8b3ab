# SPDX-License-Identifier: MIT
"""`carried`: what a function makes for each batch, and the batches beside it; both go at exit, one after the other, as a graph
gives its nodes back by kinds. `rates`: three lists, filled at three rates, that a garbage collector finalizes by age."""

import sys

from standin import Tensor

KIB = 1 << 10
scene = sys.argv[1]
made, batches, rare = [], [], []


def forward():
    return Tensor(64 * KIB)  # LEAK carried a


for step in range(120):
    Tensor(64 * KIB)
    if scene == "carried":
        batches.append(Tensor(KIB))  # LEAK carried a
        made.append(forward())
    if scene == "rates":
        made.append(Tensor(16 * KIB))  # LEAK rates a
        if step % 2 == 0:
            batches.append(Tensor(32 * KIB))  # LEAK rates b
        if step % 5 == 0:
            rare.append(Tensor(48 * KIB))  # LEAK rates c

if scene == "rates":
    # A cycle, for the collector alone: a module's end would drop the lists one by one, or not, as its imports have it.
    everything = [made, batches, rare]
    everything.append(everything)
    del made, batches, rare, everything
if scene == "carried":
    made.clear()
    batches.clear()
