# SPDX-License-Identifier: MIT
"""Trains one layer of each kind for 20 steps; every one of these calls cuBLAS, cuDNN or both."""

import torch
from torch import nn

KINDS = {
    "linear": (lambda: nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)), (32, 64)),
    "conv": (lambda: nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16)), (4, 3, 32, 32)),
    "lstm": (lambda: nn.LSTM(32, 64, 2, batch_first=True, dropout=0.1), (8, 16, 32)),
    "gru": (lambda: nn.GRU(32, 64, 2, bidirectional=True), (8, 16, 32)),
    "transformer": (lambda: nn.TransformerEncoderLayer(64, 4, batch_first=True), (8, 16, 64)),
}


def train(make, shape):
    model = make().to("cuda")
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(20):
        out = model(torch.randn(shape, device="cuda"))
        (out[0] if isinstance(out, tuple) else out).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def main():
    for make, shape in KINDS.values():
        train(make, shape)
    for kind in torch.float32, torch.float16:
        query, key, value = (torch.randn(2, 4, 128, 64, device="cuda", dtype=kind, requires_grad=True) for _ in range(3))
        nn.functional.scaled_dot_product_attention(query, key, value).sum().backward()
    attention = nn.MultiheadAttention(64, 4, batch_first=True).to("cuda")
    x = torch.randn(8, 16, 64, device="cuda")
    attention(x, x, x)[0].sum().backward()
    torch.fft.fft(torch.randn(64, 64, device="cuda"))
    print(torch.backends.cudnn.version())


main()
