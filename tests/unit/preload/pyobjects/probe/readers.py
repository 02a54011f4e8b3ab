# SPDX-License-Identifier: MIT
"""The readers of Python's objects in a library, for objects.py and roots.py. CPython 3.8 on."""

import collections
import ctypes
import gc
import os
import sys

(NAME, KEY, INDEX, ITEM, ATTRIBUTE, CLOSURE, DEFAULT) = 16, 17, 18, 19, 20, 21, 22
PART = 0
MODULE, FRAME, EXCEPTION = 1, 2, 3
USER, OWN, EXCEPTIONS, LIBRARY, INTERPRETER, CYCLES = 0, 1, 2, 4, 5, 6
CYCLE = 8
PYTHON, NUMBER = 0, 3


class Found(ctypes.Structure):
    _fields_ = [("root", ctypes.c_int32), ("kind", ctypes.c_int32), ("how", ctypes.c_int32),
                ("indexed", ctypes.c_int32), ("line", ctypes.c_int32), ("level", ctypes.c_int32),
                ("index", ctypes.c_int64), ("to", ctypes.c_uint64), ("name", ctypes.c_char * 256),
                ("type", ctypes.c_char * 256)]


ROOM = 1 << 18
room = (Found * ROOM)()
library = ctypes.CDLL(os.path.abspath(sys.argv[1]))
library.probe_open.restype = ctypes.c_char_p
for function in (library.probe_edges, library.probe_leaf):
    function.argtypes = [ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint32][:3 if function is library.probe_edges else 1]
library.probe_roots.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32]
library.probe_type_name.argtypes = [ctypes.c_uint64, ctypes.c_char_p, ctypes.c_uint32]

Edge = collections.namedtuple("Edge", "root kind how name indexed index to line level type")
faults = []


def fault(text):
    faults.append(text)
    if len(faults) <= 20:
        print("FAIL:", text)


def take(count):
    return [Edge(f.root, f.kind, f.how, f.name.decode("utf-8", "replace"), f.indexed, f.index, f.to, f.line, f.level,
                 f.type.decode("utf-8", "replace")) for f in room[:count]]


def edges(thing):
    """The edges of an object."""
    return take(library.probe_edges(id(thing), ctypes.addressof(room), ROOM))


def leaf(thing):
    return library.probe_leaf(id(thing)) != 0


def say(thing):
    return f"{type(thing).__module__}.{type(thing).__qualname__} at {id(thing):#x}"


def expect(what, thing, wanted):
    """The edges of `thing`, as {(kind, name or index): object}, must be exactly `wanted`, but for leaves."""
    found = {(e.kind, e.index if e.indexed else e.name): e.to for e in edges(thing) if e.how == PYTHON}
    # Edges to ints are made before it is known whether they are of interest.
    for place, inner in wanted.items():
        to = found.pop(place, None)
        if to != id(inner):
            fault(f"{what}: {place}: expected {id(inner):#x} ({type(inner).__name__}), found {to and hex(to)}")
    for place, to in found.items():
        fault(f"{what}: {place}: {to:#x} was not expected")


class Thing:
    """Holds nothing, but is of interest."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


def run(checks):
    """Makes the checks; returns the exit status if one failed."""
    why = library.probe_open()
    if why:
        print("FAIL:", why.decode())
        sys.exit(1)
    for check in checks:
        check()
    if library.probe_doubts():
        fault(f"{library.probe_doubts()} could not be read")


gc.disable()
