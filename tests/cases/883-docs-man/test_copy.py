# SPDX-License-Identifier: MIT
"""The tests of a user, for the pages that show how to run some under the leak gate."""

import numpy
from numba import cuda


def test_copy():
    there = cuda.to_device(numpy.ones(4))
    assert there.copy_to_host().tolist() == [1, 1, 1, 1]
