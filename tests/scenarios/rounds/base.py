# SPDX-License-Identifier: MIT
"""What the families of rounds.py, evaluated.py and loads.py share: the families by name, and what their programs do."""

import time

from simgpu import KIB, Buffer, work

FAMILIES = {}
CLEAN, LEAK, LOADS = "clean", "leak", "loads"


def family(kind, which):
    """Adds a function to the families: of a kind (CLEAN, LEAK; LOADS: clean, by paces), of a set."""
    def add(function):
        FAMILIES[function.__name__] = kind, which, function
        return function
    return add


class run:
    """Of this run: the pause between two loads in ms, chance, and the number of epochs."""
    pace, dice, rounds = 0, None, 0


def pause():
    if run.pace:
        time.sleep(run.pace / 1000)  # the pace of loading is what is tried here


def weight(size):
    pause()
    return Buffer(size)


def some(low, high):
    return low * int((high / low) ** run.dice.random() * 16) // 16


def steps(count):
    for _ in range(count):
        work()


class Layer:
    def __init__(self, size):
        self.weight = weight(size)
        self.bias = weight(4 * KIB)


class Model:
    def __init__(self, layers, size):
        self.layers = [Layer(size) for _ in range(layers)]
