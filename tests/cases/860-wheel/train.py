# SPDX-License-Identifier: MIT
"""A loop that keeps what each of its steps allocates, and tells its phases."""

import gpu
import vramtrace

history = []


@vramtrace.phase("step")
def step():
    history.append(gpu.allocate(1 << 20))  # LEAK
    gpu.free(gpu.allocate(4096))


for epoch in range(3):
    with vramtrace.phase("epoch"):
        for _ in range(20):
            step()
vramtrace.mark("done")
print(vramtrace.active(), vramtrace.simulated(), vramtrace.live_bytes(), vramtrace.snapshot("end of training"))
