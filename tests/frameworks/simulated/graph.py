# SPDX-License-Identifier: MIT
"""Captures a CUDA graph with its private pool, and replays it."""

import torch


def main():
    weights = torch.zeros(64, 64, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        weights @ weights
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = weights @ weights + 1
    for _ in range(20):
        graph.replay()
    print(tuple(out.shape))


main()
