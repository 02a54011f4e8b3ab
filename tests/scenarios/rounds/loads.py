# SPDX-License-Identifier: MIT
"""Families that load once, and stand still. What is loaded with frees in between, and nothing after it, is no different from a
leak: there is no such family. A short use tells it: `used_` have one. (One block or two are no use: a summary of what leaked is as
much.)"""

import os
import threading

from base import LOADS, Model, family, some, steps, weight
from simgpu import KIB, MIB, Buffer, Graph


@family(LOADS, "tune")
def load_list():
    global weights
    weights = [weight(256 * KIB) for _ in range(600)]


@family(LOADS, "held")
def load_dict():
    global weights
    weights = {f"layer{i}": weight(some(16 * KIB, MIB)) for i in range(600)}


@family(LOADS, "held")
def load_in_main():
    weights = [weight(128 * KIB) for _ in range(400)]
    return len(weights)


@family(LOADS, "tune")
def load_then_steps():
    global weights
    weights = [weight(256 * KIB) for _ in range(300)]
    steps(200)


@family(LOADS, "held")
def load_then_few_steps():
    global model
    model = Model(150, 512 * KIB)
    steps(12)


@family(LOADS, "held")
def load_objects():
    global model
    model = Model(200, 256 * KIB)


@family(LOADS, "tune")
def load_staged():
    global weights
    weights = []
    for _ in range(200):
        staging = weight(64 * KIB)
        weights.append(Buffer(256 * KIB))
        del staging
    steps(100)


@family(LOADS, "held")
def load_staged_then_steps():
    global weights
    weights = []
    for _ in range(200):
        staging = weight(64 * KIB)
        weights.append(Buffer(some(64 * KIB, MIB)))
        del staging
    steps(250)


@family(LOADS, "tune")
def load_then_graphs():
    global weights
    weights = [weight(256 * KIB) for _ in range(200)]
    graph = Graph()
    for _ in range(100):
        graph.launch()


@family(LOADS, "held")
def load_in_thread():
    global weights
    weights = []
    thread = threading.Thread(target=lambda: weights.extend(weight(256 * KIB) for _ in range(300)))
    thread.start()
    thread.join()


@family(LOADS, "held")
def load_two_models():
    global encoder, decoder
    encoder = [weight(256 * KIB) for _ in range(150)]
    decoder = [weight(256 * KIB) for _ in range(150)]


@family(LOADS, "held")
def load_shards():
    global weights
    weights = []
    for _ in range(8):
        shard = Buffer(8 * MIB)
        weights.extend(weight(256 * KIB) for _ in range(40))
        del shard
    steps(150)


@family(LOADS, "tune")
def load_and_exit():
    global weights
    weights = [weight(256 * KIB) for _ in range(300)]
    os._exit(0)


@family(LOADS, "held")
def load_then_fails():
    global weights
    weights = [weight(256 * KIB) for _ in range(300)]
    try:
        Buffer(1 << 50)
    except MemoryError:
        pass


@family(LOADS, "held")
def load_pages():
    """The pages of a server's cache, and then requests."""
    global pages
    pages = [weight(2 * MIB) for _ in range(128)]
    steps(100)


@family(LOADS, "held")
def load_tables():
    """A table for each length, made before the first request."""
    global tables
    tables = {n: weight(n * 4 * KIB) for n in range(1, 257)}
    steps(120)


# --- through staging copies, then used for a moment ---

def many():
    return some(16, 200)


def forward():
    """A short use: some blocks that live for a moment, of this line and of the next."""
    for _ in range(some(1, 30)):
        activation = Buffer(some(16 * KIB, 2 * MIB))
    logits = Buffer(4 * KIB)
    del activation, logits


def staged(size):
    staging = weight(size)
    loaded = Buffer(size)
    del staging
    return loaded


@family(LOADS, "tune")
def used_dict():
    global weights
    weights = {f"layer{i}": staged(some(16 * KIB, MIB)) for i in range(many())}
    forward()


@family(LOADS, "tune")
def used_list():
    global weights
    weights = [staged(256 * KIB) for _ in range(many())]
    forward()


@family(LOADS, "held")
def used_in_main():
    weights = []
    for _ in range(many()):
        staging = Buffer(64 * KIB)
        weights.append(weight(some(64 * KIB, MIB)))
        del staging
    forward()
    return weights


@family(LOADS, "held")
def used_model():
    """Layers with a weight and a bias."""
    class Layer:
        def __init__(self, size):
            self.weight, self.bias = staged(size), staged(4 * KIB)
    global model
    model = [Layer(some(64 * KIB, MIB)) for _ in range(many())]
    forward()


@family(LOADS, "held")
def used_cast():
    """Each is read in single precision and kept in half."""
    global weights
    weights = {}
    for i in range(many()):
        single = weight(2 * 256 * KIB)
        weights[i] = Buffer(256 * KIB)
        del single
    forward()


@family(LOADS, "held")
def used_mixed():
    """Every fourth is cast, too."""
    global weights
    weights = []
    for i in range(many()):
        size = some(64 * KIB, MIB)
        staging = weight(size)
        if i % 4 == 0:
            cast = Buffer(size)
            del cast
        weights.append(Buffer(size))
        del staging
    forward()


@family(LOADS, "held")
def used_adapters():
    """A model without staging, then adapters through staging copies."""
    global weights, adapters
    weights = [weight(512 * KIB) for _ in range(many())]
    adapters = {i: staged(32 * KIB) for i in range(many())}
    forward()


# --- a few things, and nothing after them ---

def few():
    return some(4, 8)


@family(LOADS, "tune")
def few_staged():
    global models
    models = [staged(some(64 * KIB, MIB)) for _ in range(few())]


@family(LOADS, "held")
def few_cast():
    """Each is read, cast, and put into its place."""
    global models
    models = {}
    for i in range(few()):
        read = weight(4 * 128 * KIB)
        cast = Buffer(2 * 128 * KIB)
        models[f"model{i}"] = Buffer(128 * KIB)
        del read, cast


@family(LOADS, "held")
def few_warmed():
    """Each is tried once: an input, what lies between, an output."""
    global models
    models = []
    for _ in range(few()):
        models.append(weight(some(64 * KIB, MIB)))
        inputs, hidden = Buffer(32 * KIB), Buffer(64 * KIB)
        outputs = Buffer(32 * KIB)
        del inputs, hidden, outputs
