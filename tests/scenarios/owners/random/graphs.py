# SPDX-License-Identifier: MIT
"""Random graphs of objects that hold device memory: graphs.py LOG VRAMTRACE FIRST COUNT, traced into LOG on the
simulated GPU. For each seed from FIRST on it makes a graph, requests a snapshot, and follows each path in the log
through the objects themselves (paths.py). It prints errors, and one line of totals."""

import array
import collections
import ctypes
import gc
import os
import re
import subprocess
import sys
import threading
import types

import holders
import paths
from simgpu import Buffer, Handle

log, vramtrace, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
own = types.ModuleType("own_module")
own.__file__ = "/somewhere/own_module.py"
sys.modules["own_module"] = own
anchor = Buffer(256)  # so that something lives


class Chance:
    """Numbers by chance: the same ones in every version of Python."""

    def __init__(self, seed):
        self.state = seed * 2862933555777941757 + 3037000493 & (1 << 64) - 1
        self.below(2)

    def below(self, most):
        self.state = self.state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        return (self.state >> 33) % most

    def choice(self, things):
        return things[self.below(len(things))]


def memory(chance):
    """An object with an address; and one that only has its bits."""
    kind = chance.below(8)
    if kind == 0:
        return Handle(4096 * (1 + chance.below(4)))
    made = Buffer(256 * (1 + chance.below(64)), owner=kind != 1)
    if kind == 1:
        hidden.append(~made.pointer)
        return made.pointer
    if kind == 2:
        made.decoys = [-made.pointer, made.pointer * 3, str(made.pointer), float(made.pointer),
                       made.pointer.to_bytes(8, "little"), made.pointer + (1 << 60)]
    return made


partial = []
hidden = []  # so that no number here is an address


def make(chance):
    """Objects that hold others, the last ones at the top."""
    made = [memory(chance) for _ in range(3 + chance.below(8))]
    for _ in range(3 + chance.below(12)):
        items = [made.pop(chance.below(len(made))) for _ in range(min(len(made), 1 + chance.below(4)))]
        if chance.below(4) == 0 and made:
            items.append(chance.choice(made))  # held twice
        made.append(holders.make(chance, items))
    return made


def put(chance, made):
    """Attaches the top of a graph to the roots; returns the rest, for local variables."""
    rest = []
    for number, thing in enumerate(made):
        where = chance.below(8)
        if where < 3:
            globals()[f"root{number}"] = thing
        elif where == 3:
            setattr(own, f"own{number}", thing)
        elif where == 4 and isinstance(thing, BaseException):
            sys.last_value = thing
        elif where == 5:
            pass
        else:
            rest.append(thing)
    return rest


def drop():
    for name in [name for name in globals() if name.startswith("root")]:
        del globals()[name]
    vars(own).clear()
    own.__file__ = "/somewhere/own_module.py"
    sys.last_value = None
    while hidden:
        number = Buffer(256)
        number.free()
        number.pointer, number.owner = ~hidden.pop(), True


def snapshot(name):
    ask = ctypes.CDLL(None).vramtrace_v1_snapshot
    if not ask(name.encode()):
        print(f"{name}: no snapshot was taken")
        sys.exit(1)


def waiting(mine, begun, end):
    begun.set()
    end.wait()


def with_locals(seed, chance, rest):
    """Takes the snapshot where three frames and another thread hold the rest; then asks them."""
    begun, end = threading.Event(), threading.Event()
    thread = threading.Thread(target=waiting, args=(rest.pop() if rest else None, begun, end))
    thread.start()
    begun.wait()

    def inner(one, *more):
        cell = more
        shown = lambda: cell
        if rest and chance.below(2):
            return inner(rest.pop())
        snapshot(f"seed {seed}")
        return check(seed, shown)
    try:
        return inner(rest.pop() if rest else None, *[rest.pop() for _ in range(min(2, len(rest)))])
    finally:
        end.set()
        thread.join()


known = {}  # steps of the log
REQUEST = 3


def read_log():
    """The entries that a snapshot added to the log: for each address, the numbers of its paths' last steps."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    dump = subprocess.run([vramtrace, "dump", log], env=environment, stdout=subprocess.PIPE, check=True).stdout
    lines = dump.decode("utf-8", "replace").splitlines()
    owned, said = {}, {}
    for line in lines:
        if " STEP " in line:
            fields = dict(re.findall(r"(number|parent|kind|flags)=(\d+)", line))
            name, kind = re.search(r' name="((?:[^"\\]|\\.)*)" type="((?:[^"\\]|\\.)*)"', line).groups()
            unescape = lambda text: re.sub(r"\\(x..|.)", lambda m: chr(int(m[1][1:], 16)) if m[1][0] == "x" and
                                           len(m[1]) == 3 else {"n": "\n", "t": "\t"}.get(m[1], m[1]), text)
            step = paths.Step(*(int(fields[key]) for key in ("number", "parent", "kind", "flags")), unescape(name),
                              unescape(kind))
            known[step.number] = step
        elif " OWNED " in line:
            of = owned.setdefault(int(re.search(r" snapshot=(\d+)", line)[1]), collections.defaultdict(set))
            for address, step in re.findall(r" \d+:(0x[0-9a-f]+):step=(\d+)", line):
                of[int(address, 16)].add(int(step))
        elif " SNAPSHOT " in line:
            fields = {key: int(value) for key, value in re.findall(r" (number|why|looked_for|owned|flags)=(\d+)", line)}
            if fields["why"] == REQUEST and fields["number"] > said.get("number", 0):
                said = fields
    return owned.get(said["number"], {}), said


def path_of(number):
    steps = []
    while number:
        steps.insert(0, known[number])
        number = known[number].parent
    return steps


def has(thing, address):
    """Whether an object is this number, or one of numbers, which have no step of their own."""
    if paths.is_a(thing, (array.array, ctypes.Array)):
        return address in list(thing)
    if paths.is_a(thing, ctypes.Structure):
        return any(has(getattr(thing, field), address) for field, *_ in type(thing)._fields_)
    return paths.is_a(thing, int) and thing == address or \
        paths.is_a(thing, ctypes._SimpleCData) and thing.value == address


def check(seed, _):
    """Follows each path. Returns what the snapshot says of itself, and the sentences about wrong paths."""
    owned, said = read_log()
    wrong, cycles = [], []
    for address, ends in owned.items():
        ways = [way for way in map(path_of, filter(None, ends)) if way[-1].kind != paths.SEEN]  # that is no owner
        lead = [paths.follow(way, known.values()) for way in ways]
        cycles += [address] * (bool(ways) and all(way[0].kind == paths.CYCLE for way in ways))
        # The path of another holder ends at an object that is on the way of the first one.
        on_way = {id(thing) for way, things in zip(ways, lead) if any(has(thing, address) for thing in things)
                  for thing in paths.passed(way, known.values())}
        for way, things in zip(ways, lead):
            if not any(has(thing, address) or id(thing) in on_way for thing in things):
                wrong.append(f"{address:#x} is not at " + " ".join(f"{s.kind}:{s.name}({s.type})" for s in way))
    ways = way = lead = things = None
    gc.collect()
    left = {getattr(thing.pointer, "value", thing.pointer) for thing in gc.get_objects() if type(thing) in (Buffer, Handle)}
    wrong += [f"{address:#x} is held by no cycle alone" for address in cycles if address in left]
    if said["flags"]:  # time may be up, on a busy machine
        partial.append(seed)
    return said["looked_for"], said["owned"], [f"seed {seed}: {text}" for text in wrong]


def main():
    blocks = named = 0
    wrong = []
    sys.last_value = None
    gc.disable()
    for seed in range(first, first + count):
        chance = Chance(seed)
        rest = put(chance, make(chance))
        found = with_locals(seed, chance, rest)
        blocks, named, wrong = blocks + found[0], named + found[1], wrong + found[2]
        del rest
        drop()
        gc.collect()
    if len(partial) > count / 2:
        wrong.append(f"{len(partial)} snapshots are not complete")
    for line in wrong:
        print(line)
    print(f"{count} graphs, {blocks} allocations, {named} named, {len(wrong)} wrong")
    return int(bool(wrong))


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)
