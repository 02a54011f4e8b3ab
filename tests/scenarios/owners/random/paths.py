# SPDX-License-Identifier: MIT
"""What a path in a log means, asked of the objects themselves: follow(steps) returns the objects to which they lead. Only
what Python itself says of an object counts, so it is no copy of the tracer's readers. Where Python cannot say by which
name an object holds another, any object counts that the collector finds in it."""

import array
import asyncio
import collections
import contextvars
import ctypes
import gc
import queue
import sys
import threading
import types

MODULE, FRAME, EXCEPTION, CYCLE, UNREACHED, SEEN = 1, 2, 3, 8, 9, 10
NAME, KEY, INDEX, ITEM, ATTRIBUTE, CLOSURE, DEFAULT = range(16, 23)
REPEATS = 2

Step = collections.namedtuple("Step", "number parent kind flags name type")

FRAMES = {types.GeneratorType: "gi_frame", types.CoroutineType: "cr_frame", types.AsyncGeneratorType: "ag_frame"}
MOST_OBJECTS = 20000


def is_a(thing, kinds):
    """isinstance() asks a weak reference's proxy for what it refers to."""
    return issubclass(type(thing), kinds)


def show(key):
    """A dict's key as a path says it; empty where it is one of many."""
    if isinstance(key, str):
        return "'" + key.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
    if key is None or isinstance(key, bool) or isinstance(key, int):
        return str(key)
    return "" if not isinstance(key, type) else None


def own_attributes(thing):
    """The attributes of an object itself, with no code of its own called."""
    found = {}
    for base in type(thing).__mro__:
        for name, member in vars(base).items():
            if isinstance(member, types.MemberDescriptorType):
                try:
                    found.setdefault(name, member.__get__(thing))
                except Exception:
                    pass
    try:
        kept = vars(thing) if is_a(thing, threading.local) else object.__getattribute__(thing, "__dict__")
        found.update((name, value) for name, value in kept.items() if isinstance(name, str))
    except AttributeError:
        pass
    return found


def parts(thing):
    """The object, and those that a path does not tell from it."""
    found, kind = [thing], type(thing)
    if kind in (staticmethod, classmethod):
        found.append(thing.__func__)
    elif kind.__name__ in ("list_iterator", "tuple_iterator", "list_reverseiterator"):
        found += gc.get_referents(thing)
    elif is_a(thing, asyncio.Future) and thing.done() and not thing.cancelled():
        found += [thing._result]
    elif is_a(thing, ctypes._SimpleCData.__mro__[1]):
        found.append(thing._objects)
    elif kind is types.TracebackType and thing.tb_next:
        found += parts(thing.tb_next)
    elif kind is queue.SimpleQueue:
        found += gc.get_referents(thing)
    elif kind.__module__ == "itertools" or kind in (zip, map, filter, enumerate, reversed):
        found += [part for held in gc.get_referents(thing) for part in parts(held)]
    return found


def by_name(thing, name):
    if is_a(thing, types.ModuleType):
        return [vars(thing)[name]] if name in vars(thing) else []
    frame = getattr(thing, FRAMES[type(thing)]) if type(thing) in FRAMES else thing
    if is_a(frame, types.FrameType):
        found = frame.f_locals
        return [found[name]] if name in found else []
    return []


def by_key(thing, name):
    if is_a(thing, types.MappingProxyType):
        thing = dict(thing)
    if is_a(thing, contextvars.Context):
        thing = {variable.name: value for variable, value in thing.items()}
    if not is_a(thing, dict):
        return []
    return [value for key, value in dict.items(thing)
            if not name or show(key) in (name, None) or (show(key) or "")[:200] == name[:200]]


def by_index(thing, name):
    if type(thing) is queue.SimpleQueue:
        return gc.get_referents(thing)
    if is_a(thing, (list, tuple, collections.deque, array.array, ctypes.Array)):
        items = list(thing) if is_a(thing, ctypes.Array) else list(type(thing).__mro__[-2].__iter__(thing))
        return items if not name else items[int(name):int(name) + 1]
    return []


def by_item(thing):
    if is_a(thing, (set, frozenset, dict)):
        return list(thing)
    if type(thing) in FRAMES or is_a(thing, types.FrameType):
        frame = getattr(thing, FRAMES.get(type(thing), ""), None)  # to 3.10, all that a generator has
        return gc.get_referents(thing, *[frame] * bool(frame))
    return []


def by_attribute(thing, name):
    found = own_attributes(thing)
    if is_a(thing, type):
        return [vars(thing)[name]] if name in vars(thing) else []
    if is_a(thing, types.ModuleType):
        return by_name(thing, name)
    if name in found:
        value = found[name]
        return [value]
    if is_a(thing, BaseException) or type(thing) in (types.CellType, types.MethodType, types.BuiltinMethodType):
        return [getattr(thing, name)] if hasattr(thing, name) else []
    if is_a(thing, (ctypes.Structure, ctypes._SimpleCData)) and hasattr(type(thing), name):
        value = getattr(thing, name)
        return list(value) if isinstance(value, ctypes.Array) else [value]
    if name in ("mapping", "cache", "__wrapped__", "_coro", "_exception", "_b_base_", "contents"):
        return gc.get_referents(thing)
    if is_a(thing, types.FrameType) and name == "f_back":
        return [thing.f_back]
    return []


def by_closure(thing, name):
    if not is_a(thing, types.FunctionType):
        return []
    return [cell.cell_contents for free, cell in zip(thing.__code__.co_freevars, thing.__closure__ or ())
            if free == name and gc.get_referents(cell)]


def by_default(thing, name):
    if not is_a(thing, types.FunctionType):
        return []
    code, values = thing.__code__, thing.__defaults__ or ()
    names = code.co_varnames[:code.co_argcount][code.co_argcount - len(values):]
    return [value for one, value in [*zip(names, values), *(thing.__kwdefaults__ or {}).items()] if one == name]


def by_frame(thing, name):
    return [thing.tb_frame] if is_a(thing, types.TracebackType) and is_of(thing.tb_frame.f_code, name) else []


def is_of(code, name):
    return getattr(code, "co_qualname", code.co_name).split(".")[-1] == name.split(".")[-1]


def is_class(thing, name):
    return not name or type(thing).__name__ == name.split(".")[-1]


def edge(things, step):
    """The objects to which a step leads from some others."""
    ways = {NAME: by_name, KEY: by_key, INDEX: by_index, ITEM: lambda thing, _: by_item(thing), ATTRIBUTE: by_attribute,
            CLOSURE: by_closure, DEFAULT: by_default, FRAME: by_frame}
    found = {}
    for whole in things:
        for thing in parts(whole):
            for value in ways[step.kind](thing, step.name) if step.kind in ways else []:
                # What a class's dict has under a name may be such a wrapper.
                for one in parts(value) if is_a(value, (staticmethod, classmethod)) else [value]:
                    if is_class(one, step.type) or step.kind == FRAME:
                        found[id(one)] = one
    return list(found.values())


def frames():
    for frame in sys._current_frames().values():
        while frame:
            yield frame
            frame = frame.f_back


def roots(step):
    if step.kind == MODULE:
        return [sys.modules[step.name]] if step.name in sys.modules else []
    if step.kind == FRAME:
        return [frame for frame in frames() if is_of(frame.f_code, step.name)]
    if step.kind == EXCEPTION:
        return [fault for fault in (getattr(sys, "last_value", None), sys.exc_info()[1]) if is_class(fault, step.name)]
    if step.kind in (CYCLE, UNREACHED):
        return [thing for thing in gc.get_objects() if is_class(thing, step.name)]
    return []


def passed(steps, tree=()):
    """The objects along a path, those at its end last."""
    found = roots(steps[0])
    yield from found
    for step in steps[1:]:
        found = edge(found, step)
        if step.flags & REPEATS:
            found = go_around(found, step, tree)
        yield from found


def go_around(found, step, tree):
    """A step that repeats: those that a way leads to through any steps below it, and this one again."""
    below, again = {step.number}, [step]
    for other in tree:  # parents come first
        if other.parent in below:
            below.add(other.number)
            again.append(other)
    seen, fresh = {id(thing): thing for thing in found}, found
    while fresh and len(seen) < MOST_OBJECTS:
        fresh = [thing for other in again for thing in edge(fresh, other) if id(thing) not in seen]
        seen.update((id(thing), thing) for thing in fresh)
    return [thing for thing in seen.values() if is_class(thing, step.type)]


def follow(steps, tree):
    """The objects at the end of a path. `tree` has all steps that there are."""
    found = roots(steps[0])
    for step in steps[1:]:
        found = edge(found, step)
        if step.flags & REPEATS:
            found = go_around(found, step, tree)
    return found
