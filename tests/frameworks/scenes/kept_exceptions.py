# SPDX-License-Identifier: MIT
"""A server keeps the exceptions of failed requests; their tracebacks hold the frames, and the frames the tensors."""
# leaky: fails at KEPT; verdict growing; kept by errors (list) in serve()
# clean: passes
import sys

import torch
from torch import nn

LEAKY = sys.argv[1] == "leaky"
device = torch.device("cuda")


class Detector:
    def __init__(self):
        self.net = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.ReLU(),
                                 nn.Conv2d(16, 8, 3, padding=1)).to(device).eval()

    @torch.no_grad()
    def predict(self, image, size):
        x = image.to(device)
        heat = self.net(x)  # KEPT
        if size not in (heat.shape[-1], 2 * heat.shape[-1]):
            raise ValueError(f"cannot scale {heat.shape[-1]} to {size}")
        return heat.cpu()


def serve(requests):
    detector = Detector()
    errors = []
    answered = 0
    for number, (image, size) in enumerate(requests):
        try:
            detector.predict(image, size)
            answered += 1
        except ValueError as error:
            errors.append((number, error if LEAKY else str(error)))
    print(answered, "answered,", len(errors), "failed; first:", errors[0])


serve((torch.rand(1, 3, 128, 128), 128 if n % 3 else 100) for n in range(180))
