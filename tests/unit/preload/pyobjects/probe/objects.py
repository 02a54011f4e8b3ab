# SPDX-License-Identifier: MIT
"""What vramtrace reads of Python's objects, compared with what Python itself says: objects.py PROBE. CPython 3.8 on.

Every edge of every object of the collector must lead to what that object holds (gc.get_referents); what containers,
instances, functions and frames hold must be named, and by the right name."""

import array
import asyncio
import collections
import contextvars
import ctypes
import dataclasses
import decimal
import enum
import functools
import gc
import itertools
import logging
import queue
import sys
import threading
import types
import unittest
import weakref

from readers import (ATTRIBUTE, CLOSURE, DEFAULT, edges, expect, fault, faults, Found, FRAME, INDEX, ITEM, KEY,
                     library, NAME, NUMBER, PART, PYTHON, ROOM, room, run, say, take, Thing)

# --- every edge leads to what the object holds ---

def held(thing):
    """The ids of what an object holds: itself, or through its dict, its cells, its frame, or its tuples of defaults."""
    found, level = {id(thing)}, [thing]
    for _ in range(4):
        below = []
        for inner in gc.get_referents(*level):
            if id(inner) not in found:
                found.add(id(inner))
                # Not through what an edge may not pass: another class, a module, a function's globals.
                if not isinstance(inner, (type, types.ModuleType)) and len(gc.get_referents(inner)) < 200:
                    below.append(inner)
        level = below
        if not level:
            break
    return found


def check_strong(thing):
    count = library.probe_edges(id(thing), ctypes.addressof(room), ROOM)
    if not count:
        return 0
    found = [(f.to, f.how, f.kind, f.name) for f in room[:count]]
    direct = {id(inner) for inner in gc.get_referents(thing)}
    if isinstance(thing, dict):  # from 3.13 on, the collector leaves out values that are kept in an instance
        direct.update(map(id, dict.values(thing)))
    if type(thing).__module__.startswith("numpy") and hasattr(thing, "base"):  # which the collector does not know
        direct.add(id(thing.base))
    holds = None
    for to, how, kind, name in found:
        if how != PYTHON or to in direct:
            continue
        if holds is None:
            holds = held(thing)
        if to not in holds:
            fault(f"{say(thing)}: edge {kind} {name!r} to {to:#x}, which it does not hold")
            break
    return count


def check_all():
    objects = gc.get_objects()
    total = 0
    for thing in objects:
        if thing is objects or thing is faults or type(thing) in (Found, type(room)):
            continue
        # The collector does not look into what functools.lru_cache puts around a result.
        if isinstance(thing, dict) and any(type(value).__name__ == "_lru_list_elem" for value in thing.values()):
            continue
        total += check_strong(thing)
    return len(objects), total


# --- what is held is named ---

class Plain:
    def __init__(self, first, second):
        self.first = first
        self.second = second


class Slots:
    __slots__ = ("one", "two", "empty")


class MoreSlots(Slots):
    __slots__ = ("three", "__dict__")


class Sub(list):
    pass


class SubDict(dict):
    __slots__ = ("extra",)


class SubInt(int):
    pass


class Big(int):
    pass


class Error(Exception):
    pass


@dataclasses.dataclass
class Data:
    field: object
    other: object = None


class Named(enum.Enum):
    ONE = 1


Point = collections.namedtuple("Point", "x y")
a, b, c, d = Thing(), Thing(), Thing(), Thing()


def check_containers():
    expect("list", [a, 1, b], {(INDEX, 0): a, (INDEX, 2): b})
    expect("list that shrank", (lambda x: (x.pop(), x)[1])([a, b, c]), {(INDEX, 0): a, (INDEX, 1): b})
    expect("tuple", (a, "text", b), {(INDEX, 0): a, (INDEX, 2): b})
    expect("named tuple", Point(a, b), {(INDEX, 0): a, (INDEX, 1): b})
    expect("set", {a}, {(ITEM, ""): a})
    expect("frozenset", frozenset([a]), {(ITEM, ""): a})
    big = {Thing() for _ in range(1000)}
    removed = [big.pop() for _ in range(500)]
    if {e.to for e in edges(big)} != {id(x) for x in big}:
        fault("set of many")
    del removed
    for count in (1, 63, 64, 65, 200):
        line = collections.deque(Thing() for _ in range(count))
        expect(f"deque of {count}", line, {(INDEX, i): x for i, x in enumerate(line)})
        line.rotate(count // 3)
        line.appendleft(a)
        line.pop()
        expect(f"deque of {count}, rotated", line, {(INDEX, i): x for i, x in enumerate(line)})
    expect("bounded deque", collections.deque([a, b, c], maxlen=2), {(INDEX, 0): b, (INDEX, 1): c})
    expect("subclass of list", Sub([a]), {(INDEX, 0): a})
    sub = Sub([a])
    sub.note = b
    expect("subclass of list with an attribute", sub, {(INDEX, 0): a, (ATTRIBUTE, "note"): b})
    expect("iterator of a list", iter(containers_kept), {(PART, ""): containers_kept})
    jobs = queue.SimpleQueue()
    for thing in (a, b, c, d) * 5:
        jobs.put(thing)
    for _ in range(18):
        jobs.get()
    found = edges(jobs)
    if sys.version_info < (3, 13):
        found = take(library.probe_edges(found[0].to, ctypes.addressof(room), ROOM))
    if [e.to for e in found if e.how == PYTHON] != [id(c), id(d)]:
        fault(f"SimpleQueue: {found}")
    made = types.ModuleType("made")
    made.kept = a
    expect("module that was made", made, {(ATTRIBUTE, "kept"): a})
    expect("module that was imported", collections, {})


containers_kept = [a]


def expect_parts(thing, *wanted):
    """What an object leads to, by whatever name."""
    if {e.to for e in edges(thing)} != {id(part) for part in wanted}:
        fault(f"{say(thing)}: {edges(thing)}, expected {[say(part) for part in wanted]}")


def referents(thing):
    """What an object refers to beside its type."""
    return [one for one in gc.get_referents(thing) if one is not type(thing) and one is not None]


def check_iterators():
    first, other = iter([a]), iter([b])
    read = lambda x: x
    line, backwards, pools = collections.deque([a]), (a, b), (c,)
    pair, numbered = zip([c], [d]), enumerate([c])
    given = [next(pair), next(numbered)] and [one for one in gc.get_referents(pair, numbered) if one in ((c, d), (0, c))]
    if len(given) != 2 or not {id(one) for one in given} <= {e.to for one in (pair, numbered) for e in edges(one)}:
        fault("what zip and enumerate gave last")
    expect_parts(map(read, first, other), read, first, other)
    expect_parts(filter(read, first), read, first)
    expect_parts(reversed(backwards), backwards)
    expect_parts(iter(read, a), read, a)
    for view in (containers_dict, containers_dict.values()):
        expect_parts(iter(view), containers_dict)
    expect_parts(iter(line), line)
    expect_parts(itertools.starmap(read, first), read, first)
    expect_parts(itertools.takewhile(read, first), read, first)
    expect_parts(itertools.islice(first, 1), first)
    expect_parts(itertools.repeat(a), a)
    expect_parts(itertools.product(backwards, pools), backwards, pools)
    summed = itertools.accumulate([a, b], read)
    next(summed)
    expect_parts(summed, *referents(summed))
    source = iter([Thing() for _ in range(60)])
    ahead, behind = itertools.tee(source)
    values = [next(ahead) for _ in range(59)]
    block = referents(behind)[0]
    following = referents(ahead)[0]
    expect_parts(ahead, following)
    expect_parts(block, source, following, *values[:57])
    expect_parts(following, source, *values[57:])


def check_contexts():
    variables = [contextvars.ContextVar(f"v{i}", default=d) for i in range(500)]
    for count in (1, 2, 17, 40, 500):
        context, kept = contextvars.Context(), {}
        for variable in variables[:count]:
            kept[variable] = Thing()
            context.run(variable.set, kept[variable])
        expect_parts(context, *referents(context))
        tree = edges(referents(context)[0])
        said = [(e.name, e.to) for e in tree if e.kind == KEY]
        if sorted(said) != sorted((f"'{variable.name}'", id(value)) for variable, value in kept.items()):
            fault(f"context of {count}: {len(said)}")
        if {e.to for e in tree if e.kind == ITEM} != {id(variable) for variable in kept}:
            fault(f"variables of a context of {count}")
    expect("ContextVar", variables[0], {(ATTRIBUTE, "default"): d})
    token = contextvars.Context().run(lambda: (variables[0].set(a), variables[0].set(b))[1])
    expect("Token", token, {(ATTRIBUTE, "old_value"): a})


def check_dicts():
    expect("dict", {"x": a, "it's": b, 3: c, -4: d}, {(KEY, "'x'"): a, (KEY, "'it\\'s'"): b, (KEY, 3): c, (KEY, -4): d})
    expect("dict of other keys", {(1, "a"): a, None: b, True: c, Thing: d},
           {(KEY, ""): a, (KEY, "None"): b, (KEY, "True"): c, (KEY, "readers.Thing"): d, (ITEM, ""): Thing})
    expect("text that is not ASCII", {"Größe": a, "重み": b, "🙂": c}, {(KEY, "'Größe'"): a, (KEY, "'重み'"): b, (KEY, "'🙂'"): c})
    many = {f"key{i}": Thing() for i in range(70000)}
    for i in range(0, 70000, 3):
        del many[f"key{i}"]
    found = edges(many)
    if [(e.name, e.to) for e in found] != [(repr(k), id(v)) for k, v in many.items()]:
        fault(f"dict of many: {len(found)} of {len(many)}")
    numbers = {i * 1000003: Thing() for i in range(1000)}
    if [(e.index, e.to) for e in edges(numbers) if e.kind == KEY] != [(k, id(v)) for k, v in numbers.items()]:
        fault("dict of numbers")
    expect("defaultdict", collections.defaultdict(Thing, {"x": a}),
           {(KEY, "'x'"): a, (ATTRIBUTE, "default_factory"): Thing})
    expect("OrderedDict", collections.OrderedDict(x=a, y=b), {(KEY, "'x'"): a, (KEY, "'y'"): b})
    sub = SubDict(x=a)
    sub.extra = b
    expect("subclass of dict with a slot", sub, {(KEY, "'x'"): a, (ATTRIBUTE, "extra"): b})
    expect("mappingproxy", types.MappingProxyType(containers_dict), {(ATTRIBUTE, "mapping"): containers_dict})
    expect("dict_values", containers_dict.values(), {(ATTRIBUTE, "mapping"): containers_dict})
    weak = weakref.WeakValueDictionary(x=a)
    for e in edges(weak.data):
        if e.to == id(a):
            fault("a weak reference was followed")
    expect("weak reference", weakref.ref(a), {})


containers_dict = {"x": a}


def check_instances():
    expect("instance", Plain(a, b), {(ATTRIBUTE, "first"): a, (ATTRIBUTE, "second"): b})
    with_dict = Plain(a, b)
    vars(with_dict)
    expect("instance whose dict was asked for", with_dict, {(ATTRIBUTE, "first"): a, (ATTRIBUTE, "second"): b})
    del with_dict.first
    with_dict.third = c
    expect("instance that changed", with_dict, {(ATTRIBUTE, "second"): b, (ATTRIBUTE, "third"): c})
    odd = Plain(a, b)
    odd.__dict__ = {"x": c, 5: d}
    expect("instance with another dict", odd, {(ATTRIBUTE, "x"): c})
    grown = Plain(a, b)
    for i in range(100):
        setattr(grown, f"more{i}", Thing())
    expect("instance of many attributes", grown, {(ATTRIBUTE, name): x for name, x in vars(grown).items()})
    slots = MoreSlots()
    slots.one, slots.three, slots.free = a, b, c
    expect("slots", slots, {(ATTRIBUTE, "one"): a, (ATTRIBUTE, "three"): b, (ATTRIBUTE, "free"): c})
    expect("dataclass", Data(a, b), {(ATTRIBUTE, "field"): a, (ATTRIBUTE, "other"): b})
    expect("SimpleNamespace", types.SimpleNamespace(x=a), {(ATTRIBUTE, "x"): a})
    part = functools.partial(Thing, a, x=b)
    found = {e.name: e.to for e in edges(part)}
    if (found.get("args"), found.get("keywords"), found.get("func")) != (
            id(part.args), id(part.keywords), id(Thing)):
        fault(f"partial: {found}")
    bound = Plain(a, b).__init__
    expect("bound method", bound, {(ATTRIBUTE, "__self__"): bound.__self__, (ATTRIBUTE, "__func__"): bound.__func__})
    bound = containers_kept.append
    expect("bound method of C", bound, {(ATTRIBUTE, "__self__"): containers_kept})
    prop = property(check_dicts)
    if {e.name: e.to for e in edges(prop)}.get("fget") != id(check_dicts):
        fault("property")

    class Local:
        kept = a
        other = [b]

        @staticmethod
        def method():
            pass
    expect("staticmethod", Local.__dict__["method"], {(PART, ""): Local.method})
    found = {e.name: e.to for e in edges(Local)}
    if found.get("kept") != id(a) or found.get("other") != id(Local.other) or "__bases__" in found or "__mro__" in found:
        fault(f"class: {found}")


def check_functions():
    def outer(free, other):
        def inner(x, y=a, *, z=b):
            return free, other, x, y, z
        return inner
    function = outer(c, d)
    function.note = containers_kept
    expect("function", function, {(CLOSURE, "free"): c, (CLOSURE, "other"): d, (DEFAULT, "y"): a, (DEFAULT, "z"): b,
                                  (ATTRIBUTE, "note"): containers_kept})
    expect("lambda", (lambda p, q=a: p), {(DEFAULT, "q"): a})
    cell = function.__closure__[0]
    expect("cell", cell, {(ATTRIBUTE, "cell_contents"): c})

    @functools.lru_cache(maxsize=8)
    def cached(x):
        return Thing()
    result = cached(7)
    found = {e.name: e.to for e in edges(cached)}
    if found.get("__wrapped__") != id(cached.__wrapped__) or "cache" not in found:
        fault(f"lru_cache: {found}")
    else:
        inner = take(library.probe_edges(found["cache"], ctypes.addressof(room), ROOM))
        if [(e.kind, e.index, e.to) for e in inner] != [(KEY, 7, id(result))]:
            fault(f"lru_cache's cache: {inner}")

    @functools.lru_cache(maxsize=None)
    def unbounded(x):
        return Thing()
    result = unbounded("k")
    found = {e.name: e.to for e in edges(unbounded)}
    inner = take(library.probe_edges(found["cache"], ctypes.addressof(room), ROOM))
    if [(e.name, e.to) for e in inner] != [("'k'", id(result))]:
        fault(f"unbounded lru_cache: {inner}")


def check_frames():
    def generate(arg):
        local = arg
        shared = b
        for item in (held_item, c):
            yield (lambda: shared), local, item

    held_item = [d]
    generator = generate(a)
    expect("generator that has not begun", generator, {(NAME, "arg"): a, (NAME, "held_item"): held_item})
    next(generator)
    found = {e.name: e.to for e in edges(generator) if e.kind == NAME}
    if found != {"arg": id(a), "local": id(a), "shared": id(b), "item": id(held_item), "held_item": id(held_item)}:
        fault(f"generator: {found}")
    if not any(e.kind == ITEM for e in edges(generator)):
        fault("generator: its iterator is not found")
    generator.close()
    expect("generator that has ended", generator, {})

    async def wait(thing):
        await stop()

    async def inner_wait(thing):
        await wait(thing)

    @types.coroutine
    def stop():
        yield
    coroutine = inner_wait(a)
    coroutine.send(None)
    waited = coroutine.cr_await
    found = [(e.kind, e.name, e.to) for e in edges(coroutine)]
    if (NAME, "thing", id(a)) not in found or (ITEM, "", id(waited)) not in found:
        fault(f"coroutine: {found}, awaits {id(waited):#x}")
    coroutine.close()

    async def agen(thing):
        yield thing
    expect("async generator", agen(a), {(NAME, "thing"): a})

    def fails(argument):
        secret = argument
        raise Error(secret)
    try:
        try:
            fails(a)
        except Error as first:
            raise ValueError(b) from first
    except ValueError as second:
        kept = second
    found = {e.name: e.to for e in edges(kept)}
    if found != {"args": id(kept.args), "__traceback__": id(kept.__traceback__), "__cause__": id(kept.__cause__),
                 "__context__": id(kept.__context__)}:
        fault(f"exception: {found}")
    trace = kept.__cause__.__traceback__.tb_next
    expect("traceback", trace, {(FRAME, trace.tb_frame.f_code.co_qualname if sys.version_info >= (3, 11) else "fails"):
                                trace.tb_frame})
    first = kept.__cause__.__traceback__
    if (PART, id(first.tb_next)) not in [(e.kind, e.to) for e in edges(first)]:
        fault("traceback: the next one")
    found = {e.name: e.to for e in edges(trace.tb_frame) if e.kind == NAME}
    if found != {"argument": id(a), "secret": id(a)}:
        fault(f"frame: {found}")
    if sys.version_info >= (3, 11):
        kept.add_note("text")
        if {e.name: e.to for e in edges(kept)}.get("__notes__") != id(kept.__notes__):
            fault("notes")
    stop_iteration = StopIteration(a)
    if {e.name: e.to for e in edges(stop_iteration)}.get("value") != id(a):
        fault("StopIteration")
    here = sys._getframe()
    found = {e.name: e.to for e in edges(here) if e.kind == NAME}
    for name, value in (("generator", generator), ("kept", kept), ("held_item", held_item), ("fails", fails)):
        if found.get(name) != id(value):
            fault(f"running frame: {name}")
    del here, kept


def check_asyncio():
    loop = asyncio.new_event_loop()

    async def wait(thing):
        await loop.create_future()
    future, failed = loop.create_future(), loop.create_future()
    future.set_result(a)
    error = ValueError()
    failed.set_exception(error)
    task = loop.create_task(wait(b))
    expect("future", future, {(PART, ""): a})
    if (ATTRIBUTE, "_exception", id(error)) not in [(e.kind, e.name, e.to) for e in edges(failed)]:
        fault("future that failed")
    if (ATTRIBUTE, "_coro", id(task.get_coro())) not in [(e.kind, e.name, e.to) for e in edges(task)] and \
            sys.version_info < (3, 14):
        fault(f"task: {edges(task)}")
    loop.call_soon(loop.stop)
    loop.run_forever()
    waits_for = referents(task.get_coro().cr_await)[0]
    found = {(e.name, e.to) for e in edges(task)}
    if ("_fut_waiter", id(waits_for)) not in found or not any(name == "_context" for name, _ in found):
        fault(f"task that waits: {edges(task)}")
    called = [functools.partial(wait, thing) for thing in (a, b, c)]
    for callback in called:
        waits_for.add_done_callback(callback)
    found = [e.to for e in edges(waits_for) if e.name == "_callbacks"]
    others = [callback for callback, _ in next(inner for inner in gc.get_referents(waits_for) if isinstance(inner, list))]
    if len(found) != 2 or others != called or found[0] not in map(id, gc.get_referents(waits_for)):
        fault(f"callbacks: {edges(waits_for)}, {others}")
    for callback in called:
        waits_for.remove_done_callback(callback)
    failed.exception()
    task.cancel()
    loop.run_until_complete(asyncio.wait([task]))
    loop.close()


local_of_threads = threading.local()


def check_locals():
    local_of_threads.mine = a
    ready, done = threading.Event(), threading.Event()

    def other():
        local_of_threads.theirs = b
        ready.set()
        done.wait()
    thread = threading.Thread(target=other)
    thread.start()
    ready.wait()
    found = {e.name: e.to for e in edges(local_of_threads)}
    if found != {"mine": id(a), "theirs": id(b)}:
        fault(f"threading.local: {found}")
    done.set()
    thread.join()


def check_numbers():
    address = 0x7f1234560000

    class Both(ctypes.Structure):
        _fields_ = [("count", ctypes.c_int32), ("pointer", ctypes.c_void_p), ("pair", ctypes.c_uint64 * 2)]

    class More(Both):
        _fields_ = [("last", ctypes.c_uint64)]

    def numbers(thing):
        return sorted((e.name or e.index, e.to) for e in edges(thing) if e.how == NUMBER)
    for what, thing, wanted in (
            ("int", address, [(0, address)]),
            ("c_void_p", ctypes.c_void_p(address), [("value", address)]),
            ("c_uint64", ctypes.c_uint64(address), [("value", address)]),
            ("c_uint32", ctypes.c_uint32(7), []),
            ("Structure", Both(1, address, (5, address)), [("pair", 5), ("pair", address), ("pointer", address)]),
            ("derived Structure", More(1, address, (0, 0), 9), [("last", 9), ("pointer", address)]),
            ("Array", (ctypes.c_void_p * 3)(None, address, 5), [(1, address), (2, 5)]),
            ("array", array.array("Q", [address, 0, 8]), [(0, address), (2, 8)]),
            ("array of doubles", array.array("d", [1.0]), []),
            ("subclass of int", Big(address), [(0, address)])):
        if numbers(thing) != wanted:
            fault(f"{what}: {numbers(thing)}")
    inner = ctypes.c_int(5)
    pointer = ctypes.pointer(inner)
    if id(inner) not in [e.to for e in edges(pointer._objects)]:
        fault("pointer's objects")
    try:
        import numpy
    except ImportError:
        return
    objects = numpy.array([a, 1, b, None], dtype=object)
    expect("NumPy objects", objects, {(INDEX, 0): a, (INDEX, 2): b})
    view = objects.reshape(2, 2).T
    expect("NumPy view", view, {(INDEX, 0): a, (INDEX, 1): b, (ATTRIBUTE, "base"): view.base})
    for kind, wanted in (("u8", [(0, address)]), ("i8", []), ("f8", [])):
        if numbers(numpy.array([address], dtype=kind)) != wanted:
            fault(f"NumPy {kind}: {numbers(numpy.array([address], dtype=kind))}")


def check_names():
    text = ctypes.create_string_buffer(256)
    for cls, wanted in ((dict, "dict"), (collections.deque, "collections.deque"), (Plain, "__main__.Plain"),
                        (collections.OrderedDict, "collections.OrderedDict"), (Named, "__main__.Named"),
                        (threading.Thread, "threading.Thread"), (type(check_names), "function"),
                        (unittest.TestCase, "unittest.case.TestCase"), (decimal.Decimal, "decimal.Decimal")):
        found = text[:library.probe_type_name(id(cls), text, 255)].decode()
        if found != wanted:
            fault(f"name of {cls}: {found}")


def main():
    logging.getLogger("x")
    run((check_names, check_containers, check_iterators, check_contexts, check_dicts, check_instances,
         check_functions, check_frames, check_asyncio, check_locals, check_numbers))
    objects, total = check_all()
    print(f"Python {sys.version.split()[0]}: {objects} objects, {total} edges, {len(faults)} faults")
    return 1 if faults or total < objects else 0


if __name__ == "__main__":
    sys.exit(main())
