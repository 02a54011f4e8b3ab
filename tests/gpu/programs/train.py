# SPDX-License-Identifier: MIT
"""Step times of a transformer's training: prints the median of the last steps in ms. train.py [STEPS] [small]

small: layers so small that the processor, and not the GPU, is what a step waits for."""
import statistics
import sys
import time

import torch

steps, small = int(sys.argv[1]), sys.argv[2:] == ["small"]
width, length, batch = (128, 32, 4) if small else (1024, 512, 16)
layer = torch.nn.TransformerEncoderLayer(width, 8, 4 * width, batch_first=True)
model = torch.nn.TransformerEncoder(layer, 6, enable_nested_tensor=False).cuda()
optimizer = torch.optim.AdamW(model.parameters())
times = []
for _ in range(steps):
    begin = time.perf_counter()
    x = torch.randn(batch, length, width, device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(x).float().pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    torch.cuda.synchronize()
    times.append(time.perf_counter() - begin)
print(f"{statistics.median(times[len(times) // 3:]) * 1e3:.3f}")
