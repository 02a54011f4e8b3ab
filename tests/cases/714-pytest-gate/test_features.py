# SPDX-License-Identifier: MIT
"""Twenty tests with a fixture's model; the one that KEEP names keeps 20 feature tensors, or gives them back."""

import ctypes
import os

import pytest
import torch

features = []


class Net(torch.nn.Module):
    def __init__(self, layers=2):
        self.weights = [torch.rand(1 << 18) for _ in range(layers)]  # MODEL

    def __call__(self, x):
        return torch.rand(1 << 18)

    def backward(self):
        for weight in self.weights:
            weight.grad = torch.rand(1 << 18)  # GRADIENT


class Cache:
    kept = []


def remember(value, into={}):
    into[len(into)] = value


@pytest.fixture(scope="module")
def model():
    net = Net()
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(net))  # it outlives the interpreter, as what an autograd graph holds does
    return net


@pytest.fixture(scope="session")
def table():
    yield torch.rand(1 << 16)


@pytest.mark.parametrize("n", range(8))
def test_forward(model, n):
    assert model(torch.rand(256)).address
    if os.environ.get("KEEP") == "across":
        features.append(torch.rand(1 << 18))  # ACROSS


@pytest.mark.parametrize("n", range(5))
def test_backward(model, table, n):
    model.backward()


def test_features(model):
    how = os.environ.get("KEEP", "")
    for _ in range(int(os.environ.get("ROUNDS", "20"))):
        x = torch.rand(1 << 18)
        out = model(x)
        if how == "list":
            features.append(out)  # KEPT: allocated in Net.__call__
        elif how == "class":
            Cache.kept.append(x)
        elif how == "helper":
            remember(model(x))
    mine = [torch.rand(1 << 18) for _ in range(20)]
    assert mine and not os.environ.get("FAIL")


def test_lazy(cache={}):
    if os.environ.get("KEEP") == "model" and not cache:
        cache["net"] = Net(12)


@pytest.mark.parametrize("n", range(5))
def test_after(model, n):
    assert model(torch.rand(256)).address
    assert os.environ.get("KEEP") != "wrong" or n
