# SPDX-License-Identifier: MIT
"""Thirty tests, of which three leak."""

import numpy as np
import pytest
from numba import cuda

pytestmark = pytest.mark.limit_vram_leaks("0 B")
kept = []


@pytest.fixture
def array():
    return cuda.device_array(1000, dtype=np.float32)


@pytest.fixture(scope="module")
def shared():
    return cuda.device_array(5000, dtype=np.float32)


@pytest.mark.parametrize("n", range(25))
def test_clean(n, array, shared):
    other = cuda.to_device(np.zeros(1000 * (n + 1), dtype=np.float32))
    assert other.copy_to_host().sum() == 0


def test_leak_one():
    kept.append(cuda.device_array(1 << 20, dtype=np.uint8))  # LEAK 1


def helper():
    return cuda.to_device(np.zeros(4096, dtype=np.uint8))  # LEAK 2


def test_leak_two():
    for _ in range(3):
        kept.append(helper())


def test_leak_three(array):
    def fill():
        kept.append(cuda.device_array(2 << 20, dtype=np.uint8))  # LEAK 3

    fill()


def test_cycle():
    class Node:
        pass

    node = Node()
    node.array, node.self = cuda.device_array(1 << 16, dtype=np.uint8), node


def test_fixture_keeps(shared):
    assert shared.size == 5000
