# SPDX-License-Identifier: MIT
"""What a backward pass allocates on the engine's threads: stacks that go on with the stack of a thread that waits, twice."""

import os

import standin
from engine import ADDMM, MUL, PYTHON, Loss

MIB = 1 << 20
first = standin.Tensor(20 * MIB)


def checkpoint():
    Loss((ADDMM, 0, 2 * MIB), (MUL, 2, 4 * MIB)).backward()


def step():
    Loss((PYTHON, 1, checkpoint), (ADDMM, 1, 6 * MIB)).backward()


step()
os._exit(0)  # the engine's threads still run
