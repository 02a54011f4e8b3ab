# SPDX-License-Identifier: MIT
"""Where the paths through Python's objects begin, compared with what Python itself says: roots.py PROBE."""

import asyncio  # noqa: F401 (a library's module whose parts have dots in their names)
import ctypes
import gc
import sys
import threading
import types

from readers import (CYCLE, CYCLES, EXCEPTIONS, fault, faults, FRAME, LIBRARY, library, MODULE, OWN, ROOM, room, run,
                     take, Thing, USER)

a, b, c = Thing(), Thing(), Thing()


class Error(Exception):
    pass


def check_roots():
    def roots(level):
        found, root = [], None
        for e in take(library.probe_roots(level, ctypes.addressof(room), ROOM)):
            if e.root:
                root = (e, {})
                found.append(root)
            else:
                root[1][e.name] = e.to
        return found

    local_here = Thing()
    library.probe_killed()
    modules = {e.name: names for e, names in roots(USER) if e.kind == MODULE}
    if list(modules) != ["__main__"] or modules["__main__"].get("a") != id(a):
        fault(f"__main__: {list(modules)}")
    frames = [(e, names) for e, names in roots(USER) if e.kind == FRAME]
    mine = [names for e, names in frames if e.name.endswith("check_roots")]
    line = [e.line for e, names in frames if e.name.endswith("check_roots")]
    if len(mine) != 1 or mine[0].get("local_here") != id(local_here) or mine[0].get("modules") != id(modules):
        fault(f"own frame: {frames}")
    elif not check_roots.__code__.co_firstlineno < line[0] < check_names_end:
        fault(f"own frame: line {line}")
    for e, names in frames:
        if e.name.endswith("check_roots") and e.type != check_roots.__code__.co_filename:
            fault(f"frame {e.name}: file {e.type!r}")
    libraries = [e.name for e, _ in roots(LIBRARY) if e.kind == MODULE]
    for name in ("sys", "threading", "asyncio.events"):
        if name not in libraries:
            fault(f"module {name} is not in the library")
    own = types.ModuleType("own_module")
    own.__file__, own.kept = "/home/user/own_module.py", b
    sys.modules["own_module"] = own
    found = [(e.name, e.type, names.get("kept")) for e, names in roots(OWN) if e.name != "readers"]
    if found != [("own_module", "/home/user/own_module.py", id(b))]:
        fault(f"own module: {found}")
    del sys.modules["own_module"]

    ready, done = threading.Event(), threading.Event()

    def waiter(thing):
        hidden = [thing]
        ready.set()
        done.wait()
        return hidden
    thread = threading.Thread(target=waiter, args=(c,))
    thread.start()
    ready.wait()
    waiting = [names for e, names in roots(USER) if e.kind == FRAME and e.name.endswith("waiter")]
    if len(waiting) != 1 or waiting[0].get("thing") != id(c) or "hidden" not in waiting[0]:
        fault(f"frame of a waiting thread: {waiting}")
    done.set()
    thread.join()

    exceptions = roots(EXCEPTIONS)
    if exceptions:
        fault(f"exceptions where there are none: {exceptions}")
    try:
        raise Error(a)
    except Error as e:
        handled = id(e)
        found = [(e.name, names) for e, names in roots(EXCEPTIONS)]
        if found != [("Error", {"": handled})]:
            fault(f"exception that is handled: {found}")
        sys.last_value = e
    found = [(e.name, names) for e, names in roots(EXCEPTIONS)]
    if found != [("Error", {"": handled})]:
        fault(f"sys.last_value: {found}")
    del sys.last_value


class Knot:
    def __init__(self, other=None):
        self.other = other or Knot(self)
        self.held = Thing()


class SlotKnot:
    __slots__ = ("me",)


def check_cycles():
    """Everything that lives is held by something, so that only what was dropped here is a cycle."""
    def drop():
        Knot()
        SlotKnot().me = SlotKnot()
        slot = SlotKnot()
        slot.me = [slot]

        class InClosure:
            def __init__(self):
                self.call = lambda: self
        InClosure()
    wanted = ["Knot", "Knot", "SlotKnot", "check_cycles.<locals>.drop.<locals>.InClosure"]
    for where, prepare in ("young", int), ("frozen", gc.freeze):
        gc.collect()
        drop()
        prepare()
        found = [(e.kind, e.name) for e in take(library.probe_roots(CYCLES, ctypes.addressof(room), ROOM)) if e.root]
        if sorted(found) != [(CYCLE, name) for name in wanted]:
            fault(f"cycles, {where}: {found}")
        gc.unfreeze()
    gc.collect()


check_names_end = check_roots.__code__.co_firstlineno + 200


if __name__ == "__main__":
    run((check_roots, check_cycles))
    print(f"Python {sys.version.split()[0]}: {len(faults)} faults")
    sys.exit(bool(faults))
