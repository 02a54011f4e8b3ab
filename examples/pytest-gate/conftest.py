# SPDX-License-Identifier: MIT
"""`pytest --fixed` tests the encoder without the bug."""

import pytest
from encoder import Encoder, FixedEncoder


def pytest_addoption(parser):
    parser.addoption("--fixed", action="store_true", help="test FixedEncoder")


@pytest.fixture
def encoder(request):
    return FixedEncoder() if request.config.getoption("--fixed") else Encoder()
