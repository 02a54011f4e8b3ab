# SPDX-License-Identifier: MIT
"""Two tests of which one leaks."""

import gpu

kept = []


def test_leaks():
    for _ in range(20):
        kept.append(gpu.allocate(1 << 20))  # LEAK


def test_clean():
    for _ in range(20):
        gpu.free(gpu.allocate(1 << 20))
