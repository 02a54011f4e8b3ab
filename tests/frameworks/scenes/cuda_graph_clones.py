# SPDX-License-Identifier: MIT
"""A captured CUDA graph is replayed for each request; the clones of its output stay on the card, or go to the host."""
# leaky: fails at KEPT; verdict growing; kept by answers (list) in __main__
# clean: passes
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"


class GraphedModel:
    def __init__(self, model, example):
        self.static_input = example.clone()
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                model(self.static_input)
        torch.cuda.current_stream().wait_stream(stream)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.static_output = model(self.static_input)

    def __call__(self, request):
        self.static_input.copy_(request)
        self.graph.replay()
        return self.static_output.clone()  # KEPT


answers = []
with torch.no_grad():
    model = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512)).cuda().eval()
    graphed = GraphedModel(model, torch.zeros(128, 512, device="cuda"))
    for _ in range(60):
        answer = graphed(torch.randn(128, 512))
        answers.append(answer if LEAKY else answer.cpu())
