# SPDX-License-Identifier: MIT
"""Programs of few rounds, in families: rounds.py FAMILY ROUNDS PACE SEED. What is loaded once stands still afterwards, at
any pace: PACE is the pause between two loads, in milliseconds. Of the others, ROUNDS is the number of epochs; a leak's line
says LEAK. `run` records and judges them. Families of the set `tune` may be looked at while limits are chosen; those of the
set `held` show how often that was right. What is loaded with frees in between, and nothing after it, is no different from a
leak: there is no such family."""

import itertools
import os
import random
import sys
import threading
import time

from simgpu import KIB, MIB, Buffer, Graph, phase, work

FAMILIES = {}
CLEAN, LEAK, LOADS = "clean", "leak", "loads"


def family(kind, which):
    """Adds a function to the families: of a kind (CLEAN, LEAK; LOADS: clean, by paces), of a set."""
    def add(function):
        FAMILIES[function.__name__] = kind, which, function
        return function
    return add


def pause():
    if pace:
        time.sleep(pace / 1000)  # the pace of loading is what is tried here


def weight(size):
    pause()
    return Buffer(size)


def some(low, high):
    return low * int((high / low) ** dice.random() * 16) // 16


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


# --- loaded once ---

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


# --- tables, caches, and what falls back ---

@family(CLEAN, "tune")
def table_by_length():
    """One entry for each length; batches come with any, until all are there."""
    table = {}
    for _ in range(rounds):
        lengths = list(range(1, 41))
        dice.shuffle(lengths)
        for n in lengths:
            work()
            if n not in table:
                table[n] = Buffer(n * 16 * KIB)


@family(CLEAN, "held")
def table_sorted():
    """The same, with batches in the order of their length."""
    table = {}
    for _ in range(rounds):
        for n in range(1, 65):
            work()
            if n not in table:
                table[n] = Buffer(n * 16 * KIB)


@family(CLEAN, "held")
def table_global():
    global table
    table = {}
    for _ in range(rounds):
        for _ in range(120):
            work()
            n = dice.randint(1, 30)
            if n not in table:
                table[n] = Buffer(64 * KIB)


@family(CLEAN, "tune")
def sawtooth():
    """A list, emptied at each epoch's end; the run ends within the last one."""
    outputs = []
    for epoch in range(rounds):
        for step in range(20):
            work()
            outputs.append(Buffer(512 * KIB))
            if epoch == rounds - 1 and step == 16:
                return
        outputs.clear()


@family(CLEAN, "held")
def sawtooth_rises():
    """The same; each epoch is a little longer than the last."""
    outputs = []
    for epoch in range(rounds):
        for _ in range(16 + 3 * epoch):
            work()
            outputs.append(Buffer(512 * KIB))
        outputs.clear()
        steps(8)


@family(CLEAN, "held")
def rollout():
    """Reinforcement learning: a rollout is collected, learned from, and dropped."""
    global buffer
    buffer = []
    for _ in range(rounds):
        for _ in range(32):
            buffer.append((Buffer(64 * KIB), Buffer(4 * KIB)))
        steps(10)
        buffer = []
    for _ in range(20):
        buffer.append((Buffer(64 * KIB), Buffer(4 * KIB)))


@family(CLEAN, "tune")
def lazy_state():
    """An optimizer's state, made in the first step."""
    params = [Buffer(256 * KIB) for _ in range(24)]
    state = {}
    for _ in range(rounds):
        for _ in range(6):
            for i in range(len(params)):
                Buffer(256 * KIB)
                if i not in state:
                    state[i] = Buffer(256 * KIB), Buffer(256 * KIB)


@family(CLEAN, "held")
def lazy_state_unfrozen():
    """A third of the parameters is trained from the first epoch on, a third from the second, the rest from the third."""
    params = [Buffer(256 * KIB) for _ in range(30)]
    state = {}
    for epoch in range(rounds):
        for _ in range(20):
            for i in range(min(len(params), 10 * (epoch + 1))):
                Buffer(256 * KIB)
                if i not in state:
                    state[i] = Buffer(512 * KIB)
    if rounds < 6:
        steps(40 * (6 - rounds))


@family(CLEAN, "tune")
def kv_cache():
    """A key-value cache, longer with each token, dropped when the answer is complete."""
    for _ in range(rounds):
        cache = []
        for _ in range(40):
            work()
            cache.append(Buffer(32 * KIB))
        del cache


@family(CLEAN, "held")
def kv_cache_session():
    """The same in an object that stays; the last answer is longer."""
    class Session:
        cache = []
    global session
    session = Session()
    for answer in range(rounds):
        session.cache = []
        for _ in range(30 if answer < rounds - 1 else 50):
            work()
            session.cache.append((Buffer(32 * KIB), Buffer(32 * KIB)))


@family(CLEAN, "held")
def cache_first_epoch():
    """A data set that is kept on the device: all of it is there after the first epoch."""
    cache = {}
    for _ in range(rounds):
        for i in range(50):
            if i not in cache:
                cache[i] = Buffer(256 * KIB)
            work()


@family(CLEAN, "tune")
def cache_first_epoch_marked():
    cache = {}
    for _ in range(rounds):
        with phase("epoch"):
            for i in range(50):
                if i not in cache:
                    cache[i] = Buffer(256 * KIB)
                work()


@family(CLEAN, "held")
def best_models():
    """The three best models so far are kept."""
    best = []
    for _ in range(rounds):
        steps(20)
        best.append((dice.random(), Model(4, 256 * KIB)))
        best.sort(key=lambda entry: entry[0])
        del best[3:]
    steps(20)


@family(CLEAN, "held")
def replaced_marked():
    """The average of the weights is made anew in each epoch; the last one goes."""
    average = None
    for _ in range(rounds):
        with phase("epoch"):
            steps(15)
            average = [Buffer(MIB) for _ in range(8)]
    del average


@family(CLEAN, "held")
def two_epochs_queue():
    """A queue of the last forty batches; full in the second epoch."""
    queue = []
    for _ in range(rounds):
        for _ in range(25):
            work()
            queue.append(Buffer(256 * KIB))
            if len(queue) > 40:
                queue.pop(0)


# --- leaks of few rounds ---

@family(LEAK, "tune")
def epoch_outputs():
    """All outputs of each epoch, and none is ever dropped."""
    outputs = []
    for _ in range(rounds):
        for _ in range(10):
            work()
            outputs.append(Buffer(512 * KIB))  # LEAK
        steps(6)


@family(LEAK, "held")
def epoch_models():
    """The model of each epoch is kept."""
    global models
    models = []
    for _ in range(rounds):
        steps(20)
        models.append([Buffer(256 * KIB) for _ in range(12)])  # LEAK


@family(LEAK, "tune")
def epoch_one():
    """One tensor an epoch."""
    global history
    history = []
    for _ in range(rounds):
        steps(20)
        history.append(Buffer(4 * MIB))  # LEAK


@family(LEAK, "held")
def epoch_one_marked():
    history = []
    for _ in range(rounds):
        with phase("epoch"):
            steps(20)
            history.append(Buffer(4 * MIB))  # LEAK


@family(LEAK, "tune")
def epoch_outputs_marked():
    outputs = []
    for _ in range(rounds):
        with phase("epoch"):
            for _ in range(10):
                work()
                outputs.append(Buffer(512 * KIB))  # LEAK


@family(LEAK, "held")
def rollout_kept():
    """A rollout list that nobody empties."""
    global buffer
    buffer = []
    for _ in range(rounds):
        for _ in range(32):
            buffer.append(Buffer(64 * KIB))  # LEAK
        steps(10)


@family(LEAK, "held")
def state_again():
    """An optimizer made anew in each epoch, the old ones in a list."""
    params = [Buffer(256 * KIB) for _ in range(16)]
    optimizers = []
    for _ in range(rounds):
        state = {}
        for _ in range(6):
            for i in range(len(params)):
                Buffer(256 * KIB)
                if i not in state:
                    state[i] = Buffer(512 * KIB)  # LEAK
        optimizers.append(state)


@family(LEAK, "held")
def kv_caches_kept():
    """The caches of all answers so far."""
    class Server:
        answers = {}
    global server
    server = Server()
    for number in range(rounds):
        server.answers[number] = cache = []
        for _ in range(20):
            work()
            cache.append(Buffer(32 * KIB))  # LEAK


@family(LEAK, "held")
def cache_by_epoch():
    """A cache whose key has the epoch in it, so that it never hits."""
    cache = {}
    for epoch in range(rounds):
        for i in range(20):
            cache[epoch, i] = Buffer(256 * KIB)  # LEAK
            work()


@family(LEAK, "tune")
def table_by_float():
    """A table whose key is a float that is never the same."""
    table = {}
    for _ in range(rounds):
        for _ in range(4):
            work()
            table[dice.random()] = Buffer(MIB)  # LEAK


@family(LEAK, "held")
def only_keeps():
    """Nothing is freed; a list gets so many in each epoch, and a workspace of the epoch is kept beside."""
    global kept
    kept = []
    for _ in range(rounds):
        with phase("epoch"):
            kept.append([Buffer(128 * KIB) for _ in range(16)])  # LEAK


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        for name, (kind, which, _) in FAMILIES.items():
            print(name, kind, which)
    else:
        rounds, pace, dice = int(sys.argv[2]), float(sys.argv[3]), random.Random(int(sys.argv[4]))
        FAMILIES[sys.argv[1]][2]()
