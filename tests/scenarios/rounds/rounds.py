# SPDX-License-Identifier: MIT
"""Programs of few rounds, in families: rounds.py FAMILY ROUNDS PACE SEED. PACE is the pause between two loads, in milliseconds;
of what is not loaded once, ROUNDS is the number of epochs. A leak's line says LEAK. `run` records and judges them. Families of
the set `tune` may be looked at while limits are chosen; those of the set `held` show how often that was right."""

import collections
import functools
import random
import sys

import appended  # pylint: disable=unused-import
import evaluated  # pylint: disable=unused-import
import loads  # pylint: disable=unused-import
from base import CLEAN, FAMILIES, LEAK, Model, family, run, some, steps
from simgpu import KIB, MIB, Buffer, phase, work

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


@family(CLEAN, "tune")
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


@family(CLEAN, "held")
def layers_added():
    """A block of layers is added in each of the first two epochs."""
    layers = []
    for epoch in range(rounds):
        if epoch < 2:
            layers.append(Model(3, 512 * KIB))
        steps(25)


@family(CLEAN, "held")
def curriculum():
    """Longer sentences in the second epoch, and a table entry for each length."""
    table = {}
    for epoch in range(rounds):
        for n in range(1, 9 if epoch == 0 else 17):
            steps(2)
            if n not in table:
                table[n] = Buffer(n * 64 * KIB)


@family(CLEAN, "held")
def last_two():
    """The predictions of the last two epochs are kept, to be compared."""
    class Trainer:
        history = []
    global trainer
    trainer = Trainer()
    for _ in range(rounds):
        steps(12)
        trainer.history.append([Buffer(256 * KIB) for _ in range(10)])
        del trainer.history[:-2]
    steps(6)


@family(CLEAN, "held")
def replay_fills():
    """A replay buffer of 64 transitions; full in the second epoch."""
    global transitions
    transitions = []
    for _ in range(rounds):
        for _ in range(40):
            transitions.append(Buffer(some(16 * KIB, 64 * KIB)))
            if len(transitions) > 64:
                del transitions[dice.randrange(len(transitions))]
            work()


@family(CLEAN, "held")
def validation_cached():
    """The validation set is put on the device when it is first needed, at the end of the first epoch."""
    cached = []
    for _ in range(rounds):
        steps(30)
        if not cached:
            cached.extend(Buffer(512 * KIB) for _ in range(25))
        steps(25)


@family(CLEAN, "held")
def cleared_every_other():
    """Two networks in turn: what one collects, the other one uses up."""
    pool = set()
    for epoch in range(rounds):
        for _ in range(15):
            work()
            pool.add(Buffer(256 * KIB))
        if epoch % 2:
            pool.clear()
    steps(4)


@family(CLEAN, "held")
def sessions():
    """Each epoch opens three sessions, and closes those of the last one."""
    open_now = {}
    for epoch in range(rounds):
        for i in range(3):
            open_now[epoch, i] = Model(2, 128 * KIB)
            steps(5)
        for i in range(3):
            open_now.pop((epoch - 1, i), None)


@family(CLEAN, "held")
def average_late():
    """A copy of the model from the second epoch on."""
    model, average = Model(12, 256 * KIB), None
    for epoch in range(rounds):
        steps(20)
        if epoch == 1:
            average = Model(len(model.layers), 256 * KIB)
    return average


@family(CLEAN, "held")
def trials_then_training():
    """Four trials, each with a model; the best is taken, and trained."""
    trials = []
    for _ in range(4):
        trials.append(Model(6, 256 * KIB))
        steps(10)
    best = trials[2]
    trials.clear()
    for _ in range(rounds):
        steps(12)
    return best


@family(CLEAN, "held")
def workspaces_by_shape():
    """A workspace for each of five shapes, made when the shape is first seen: any of them in each step."""
    global workspaces
    workspaces = {}
    for _ in range(rounds):
        for _ in range(25):
            shape = dice.randrange(5)
            if shape not in workspaces:
                workspaces[shape] = Buffer((1 + shape) * MIB)
            work()


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


@family(LEAK, "tune")
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


@family(LEAK, "held")
def hooks_kept():
    """A hook is added in each epoch, and has its workspace in its closure."""
    class Net:
        hooks = []
    global net
    net = Net()

    def hook():
        workspace = Buffer(2 * MIB)  # LEAK
        return lambda: workspace
    for _ in range(rounds):
        net.hooks.append(hook())
        steps(18)


@family(LEAK, "held")
def unbounded_deque():
    recent = collections.deque()
    for _ in range(rounds):
        for _ in range(dice.randint(11, 13)):
            work()
            recent.append(Buffer(256 * KIB))  # LEAK
        steps(9)


@family(LEAK, "held")
def default_argument():
    def remember(x, seen=[]):  # pylint: disable=dangerous-default-value
        seen.append(x)
    for _ in range(rounds):
        steps(14)
        for _ in range(3):
            remember(Buffer(MIB))  # LEAK


@family(LEAK, "held")
def metrics_by_epoch():
    """A dictionary of the epoch has lists of tensors."""
    global metrics
    metrics = {}
    for epoch in range(rounds):
        metrics[epoch] = {"loss": [], "accuracy": []}
        for _ in range(6):
            steps(2)
            metrics[epoch]["loss"].append(Buffer(64 * KIB))  # LEAK
        steps(8)


@family(LEAK, "held")
def errors_kept():
    """An exception of each epoch is kept, and its frames with it."""
    errors = []

    def fails():
        batch = Buffer(3 * MIB)  # LEAK
        raise ValueError(batch.pointer)
    for _ in range(rounds):
        steps(20)
        try:
            fails()
        except ValueError as error:
            errors.append(error)


@family(LEAK, "held")
def cached_function():
    """A function with functools.lru_cache(maxsize=None) that is called with the epoch."""
    @functools.lru_cache(maxsize=None)
    def mask(epoch, i):
        return Buffer(128 * KIB)  # LEAK
    for epoch in range(rounds):
        for i in range(8):
            for _ in range(2):
                mask(epoch, i)
        steps(16)


@family(LEAK, "held")
def set_of_objects():
    class Result:
        def __init__(self):
            self.value = Buffer(512 * KIB)  # LEAK
    global results
    results = set()
    for _ in range(rounds):
        steps(10)
        for _ in range(4):
            results.add(Result())


@family(LEAK, "held")
def optimizers_kept():
    """Each epoch has an optimizer of its own, which a list of the trainer keeps."""
    class Trainer:
        optimizers = []
    global trainer
    trainer = Trainer()
    for _ in range(rounds):
        state = {i: Buffer(256 * KIB) for i in range(10)}  # LEAK
        trainer.optimizers.append(state)
        steps(15)


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        for name, (kind, which, _) in FAMILIES.items():
            print(name, kind, which)
    else:
        rounds, run.pace, run.dice = int(sys.argv[2]), float(sys.argv[3]), random.Random(int(sys.argv[4]))
        dice, run.rounds = run.dice, rounds
        FAMILIES[sys.argv[1]][2]()
