# SPDX-License-Identifier: MIT
"""What PyTorch's libraries take: cuBLAS (handles, workspaces), cuDNN, cuFFT, cuSOLVER, a CUDA graph, torch.compile."""
import torch

a = torch.randn(2048, 2048, device="cuda")
conv = torch.nn.Conv2d(64, 128, 3, padding=1).cuda()
(a @ a).sum().item()
conv(torch.randn(16, 64, 56, 56, device="cuda")).sum().backward()
torch.fft.fft2(a).abs().sum().item()
torch.linalg.svd(a[:256, :256])
graph = torch.cuda.CUDAGraph()
static = torch.randn(1024, 1024, device="cuda")
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    for _ in range(3):
        static @ static
torch.cuda.current_stream().wait_stream(side)
with torch.cuda.graph(graph):
    y = (static @ static).relu()
for _ in range(10):
    graph.replay()


@torch.compile
def fused(x):
    return (x.sin() + x.cos()).relu().sum()


fused(a).item()
torch.cuda.synchronize()
