# SPDX-License-Identifier: MIT
"""Callbacks that close over a tensor, and stay registered."""

from simgpu import KIB, Buffer, leaking, work

hooks = {}


def register(step):
    activation = Buffer(256 * KIB)  # LEAK
    hooks[step if leaking else 0] = lambda: activation


for step in range(150):
    register(step)
    work()
