# SPDX-License-Identifier: MIT
"""A test that has nothing to do with a GPU, and one with a limit."""

import pytest


def test_plain():
    assert True


@pytest.mark.limit_vram_leaks("0 B")
def test_limited():
    assert True
