# SPDX-License-Identifier: MIT
"""Four steps of a training loop: weights, activations that each step makes anew, and in step 3 a large temporary one."""
import ctypes
import os
import sys

import standin

tracer = ctypes.CDLL(None)
MIB = 1 << 20
weights = [standin.Tensor(24 * MIB) for _ in range(4)]


def forward(step):
    made = [standin.Tensor(16 * MIB) for _ in range(6)]
    if step == 3:
        try:
            made.append(standin.Tensor(200 * MIB))
        except (MemoryError, RuntimeError):
            if not os.environ.get("CATCHES"):
                raise
    return made


for step in range(1, 5):
    tracer.vramtrace_v1_push(b"step")
    activations = forward(step)
    del activations
    tracer.vramtrace_v1_pop()
print(standin.stats()["peak_reserved"])
sys.stdout.flush()
if os.environ.get("KILLED"):
    os.kill(os.getpid(), 9)
