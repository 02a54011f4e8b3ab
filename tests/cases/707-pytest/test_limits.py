# SPDX-License-Identifier: MIT
"""What the plugin's markers let pass, and what not."""

import numpy as np
import pytest
from numba import cuda

kept = []


def take(size):
    return cuda.device_array(size, dtype=np.uint8)


@pytest.mark.limit_vram("4 MB")
def test_over():
    arrays = [take(2 << 20) for _ in range(4)]
    del arrays


@pytest.mark.limit_vram("4 MB")
def test_under():
    for _ in range(4):
        take(2 << 20)
    array = take(3 << 20)
    del array


@pytest.mark.limit_vram_leaks("0 B", warmups=1)
def test_warm(once=[]):
    if not once:
        once.append(take(5000))


@pytest.mark.limit_vram_leaks("0 B")
def test_cold(once=[]):
    if not once:
        once.append(take(6000))


@pytest.mark.limit_vram_leaks("1 KB")
def test_allowed():
    kept.append(take(1000))


@pytest.mark.limit_vram_leaks("1 KB")
def test_more_than_allowed():
    kept.append(take(2000))


def test_unmarked():
    kept.append(take(3000))
