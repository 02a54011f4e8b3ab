# SPDX-License-Identifier: MIT
"""Ordinary tests: nothing in them is about memory."""


def test_width(encoder):
    assert encoder.encode("a sentence").size == 65536


def test_cached(encoder):
    assert encoder.encode("twice") is encoder.encode("twice")


def test_many_requests(encoder):
    for number in range(50):
        assert encoder.encode(f"request {number}") is not None
