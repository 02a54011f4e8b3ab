# SPDX-License-Identifier: MIT
"""Keeps 100 buffers, or objects with one, in a container of the kind that its argument names."""

import collections
import os
import queue
import sys
import types
import weakref

from simgpu import KIB, Buffer, work

ROUNDS = 100


class Session:
    def __init__(self):
        work()
        self.buffer = Buffer(32 * KIB)


class Tree:
    def __init__(self):
        self.children = {}
        work()
        self.buffer = Buffer(32 * KIB)


def fill(put):
    for i in range(ROUNDS):
        put(i)


# How the container is made, and how the nth comes in.
KINDS = {
    "list": (list, lambda k, i: k.append(Session())),
    "dict": (dict, lambda k, i: k.__setitem__(i, Session())),
    "set": (set, lambda k, i: k.add(Session())),
    "set_subclass": (type("Bag", (set,), {}), lambda k, i: k.add(Session())),
    "deque": (collections.deque, lambda k, i: k.append(Session())),
    "ordered": (collections.OrderedDict, lambda k, i: k.__setitem__(i, Session())),
    "ordered_names": (collections.OrderedDict, lambda k, i: k.__setitem__(f"n{i}", Session())),
    "defaultdict": (lambda: collections.defaultdict(list), lambda k, i: k[i].append(Session())),
    "counter": (collections.Counter, lambda k, i: k.__setitem__(Session(), 1)),
    "user_dict": (collections.UserDict, lambda k, i: k.__setitem__(i, Session())),
    "user_list": (collections.UserList, lambda k, i: k.append(Session())),
    "keys": (dict, lambda k, i: k.__setitem__(Session(), i)),
    "tuples_as_keys": (dict, lambda k, i: k.__setitem__((i, "a"), Session())),
    "bytes_as_keys": (dict, lambda k, i: k.__setitem__(b"%d" % i, Session())),
    "weak_keys": (weakref.WeakKeyDictionary, lambda k, i: k.__setitem__(Session, k.get(Session, []) + [Session()])),
    "queue": (queue.Queue, lambda k, i: k.put(Session())),
    "simple_queue": (queue.SimpleQueue, lambda k, i: k.put(Session())),
    "heap": (queue.PriorityQueue, lambda k, i: k.put((i, Session()))),
    "dict_of_lists": (dict, lambda k, i: k.setdefault(f"layer{i % 4}", []).append(Session())),
    "dict_of_lists_12": (dict, lambda k, i: k.setdefault(f"layer{i % 12}", []).append(Session())),
    "dict_of_lists_40": (dict, lambda k, i: k.setdefault(f"layer{i % 40}", []).append(Session())),
    "dict_of_dicts": (dict, lambda k, i: k.setdefault(f"user{i // 3}", {}).__setitem__(f"l{i % 3}", Session())),
    "dict_of_sets": (dict, lambda k, i: k.setdefault(f"layer{i % 12}", set()).add(Session())),
    "one_of_many_names": (dict, lambda k, i: k.setdefault("big" if i % 50 else "small", []).append(Session())),
    "dict_of_two": (dict, lambda k, i: k.setdefault(f"s{i % 40}", []).append((Session(), 1))),
    "tree": (Tree, lambda k, i: k.children.setdefault(f"a{i % 10}", Tree()).children.setdefault(f"b{i}", Tree())),
    "attributes": (types.SimpleNamespace, lambda k, i: setattr(k, f"layer_{i}", Session())),
    "chain_map": (lambda: [collections.ChainMap()], lambda k, i: k.__setitem__(0, k[0].new_child({"x": Session()}))),
    "key_with_bracket": (dict, lambda k, i: k.setdefault("conv (3x3)", []).append(Session())),
}



def failed(kept):
    """Keeps the exception of a function, and so its variables."""
    def serve(session):
        raise ValueError("no")
    try:
        serve(Session())
    except ValueError as error:
        kept.append(error)


KINDS["exceptions"] = list, lambda k, i: failed(k)
kind = sys.argv[1]
if kind == "globals":
    fill(lambda i: globals().__setitem__(f"kept_{i}", Session()))
elif kind == "several":
    first, second, third, fourth = [], [], [], []
    fill(lambda i: (first, second, third, first, fourth, second, first)[i % 7].append(Session()))
elif kind == "two":
    first, second = [], []
    fill(lambda i: (first, first, first, second)[i % 4].append(Session()))
elif kind == "comprehension":
    def leave():
        os._exit(0)

    def main():
        return [Session() if i < ROUNDS else leave() for i in range(ROUNDS + 1)]
    main()
elif kind == "frozenset":
    kept = frozenset(Session() for i in range(ROUNDS))
elif kind == "coroutines":
    kept = set()

    @types.coroutine
    def pause():
        yield

    async def serve():
        work()
        buffer = Buffer(32 * KIB)
        await pause()
        buffer.free()

    for _ in range(ROUNDS):
        task = serve()
        task.send(None)
        kept.add(task)
    del task
else:
    kept = KINDS[kind][0]()
    fill(lambda i: KINDS[kind][1](kept, i))
