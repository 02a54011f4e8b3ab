# SPDX-License-Identifier: MIT
"""Random ways to hold objects in Python. make(chance, items) returns an object that holds the items; some are dropped
again, so that their container has slack. Nothing else keeps them. CPython 3.8 on."""

import array
import asyncio
import collections
import contextlib
import contextvars
import ctypes
import dataclasses
import enum
import functools
import itertools
import queue
import threading
import types
import weakref


class Plain:
    pass


class Slots:
    __slots__ = ("first", "second", "rest", "__weakref__")


class SlotsAndDict(Slots):
    pass


class List(list):
    pass


class Dict(dict):
    pass


class Tuple(tuple):
    pass


class Deque(collections.deque):
    pass


class Error(Exception):
    pass


class deque:  # not that of collections
    def __init__(self, value):
        self.items = value


class Hostile:
    """What every question of Python's own would fall over."""

    def __init__(self, value):
        object.__setattr__(self, "kept", value)

    def __getattr__(self, name):
        raise RuntimeError(name)

    def __eq__(self, other):
        raise RuntimeError

    __hash__ = object.__hash__

    def __bool__(self):
        raise RuntimeError


@dataclasses.dataclass
class Data:
    left: object
    right: object = None


Pair = collections.namedtuple("Pair", "left right")


class Pointers(ctypes.Structure):
    _fields_ = [("count", ctypes.c_int), ("first", ctypes.c_void_p), ("more", ctypes.c_uint64 * 2)]


KEYS = [0, 1, -7, 2**40, "a", "it's", "line\nend", "\u00e9\u4e2d", None, True, 2.5, (1, 2), b"x", int, "long " * 60]


def a_list(chance, items):
    made = [*items, None, *items[:1]]
    while len(made) > 1 and chance.below(3) == 0:
        made.pop(chance.below(len(made)))
    if chance.below(4) == 0:
        made.extend([None] * chance.below(40))
        del made[-5:]
    return made


def a_dict(chance, items, kind=dict):
    made = kind()
    keys = list(KEYS)
    for item in items:
        made[keys.pop(chance.below(len(keys)))] = item
        if chance.below(4) == 0:
            del made[next(iter(made))]
    if chance.below(4) == 0:
        for number in range(chance.below(120)):
            made[f"filler {number}"] = None
    return made


def ordered(chance, items):
    made = a_dict(chance, items, collections.OrderedDict)
    if made:
        made.move_to_end(next(iter(made)))
    return made


def a_default_dict(chance, items):
    made = a_dict(chance, items, lambda: collections.defaultdict(list))
    made["missing"].extend(items[:1])
    return made


def a_dict_subclass(chance, items):
    made = a_dict(chance, items, Dict)
    made.extra = items[0]
    return made


def keys_only(chance, items):
    return dict.fromkeys([item for item in items if is_key(item)] or [1])


def is_key(item):
    try:
        hash(item)
    except Exception:
        return False
    return type(item) is not Hostile


def a_set(chance, items):
    made = {item for item in items if is_key(item)}
    if made and chance.below(3) == 0:
        made.pop()
    return made if chance.below(2) else frozenset(made)


def a_deque(chance, items, kind=collections.deque):
    made = kind([None] * chance.below(150))
    for item in items:
        (made.append if chance.below(2) else made.appendleft)(item)
    made.rotate(chance.below(200) - 100)
    while len(made) > 1 and chance.below(3) == 0:
        (made.pop if chance.below(2) else made.popleft)()
    return made


def a_list_subclass(chance, items):
    made = List(a_list(chance, items))
    made.extra = items[0]
    return made


def a_tuple_subclass(chance, items):
    made = Tuple(items)
    made.extra = items[-1]
    return made


def attributes(chance, items, kind=Plain):
    made = kind()
    for number, item in enumerate(items):
        setattr(made, f"field{number}", item)
    for number in range(chance.below(3) * chance.below(40)):
        setattr(made, f"other{number}", None)
    if chance.below(4) == 0:
        vars(made)
    if chance.below(4) == 0:
        del made.field0
    if chance.below(6) == 0:
        vars(made)[5] = items[0]
    if chance.below(6) == 0:
        made.__dict__ = dict(vars(made), swapped=items[0])
    return made


def slots(chance, items):
    made = (SlotsAndDict if chance.below(2) else Slots)()
    made.first, made.rest = items[0], items[1:]
    if chance.below(3) == 0:
        del made.first
    if isinstance(made, SlotsAndDict):
        made.extra = items[-1]
    return made


def an_own_class(chance, items):
    def method(self):
        return items
    kind = type("Made", (Plain,), {"attribute": items[0], "method": method, "alone": staticmethod(lambda x=items[-1]: x)})
    return kind if chance.below(2) else kind()


def closure(chance, items):
    first, rest = items[0], items[1:]

    def outer():
        def inner():
            return first, rest
        return inner
    return outer() if chance.below(2) else outer


def defaults(chance, items):
    def function(zero, one=items[0], *more, two=items[-1], **others):
        local = one
        return local, two
    if chance.below(2):
        function.attribute = items[0]
    return function


def method(chance, items):
    return types.MethodType(closure(chance, items), attributes(chance, items))


def builtin_method(chance, items):
    return a_list(chance, items).append


def partial(chance, items):
    return functools.partial(print, *items, key=items[0])


def cached(chance, items):
    # Its results are found in its dict only without a bound.
    made = functools.lru_cache(maxsize=None)(lambda number: items[number])
    for number in range(len(items)):
        made(number)
    return made


def generator(chance, items):
    def steps(first, rest):
        try:
            taken = first
            yield
            print_nothing(first, rest, (yield taken))
        finally:
            first = None

    def print_nothing(*_):
        pass
    made = steps(items[0], items[1:])
    for _ in range(chance.below(4)):
        next(made, None)
    return made


def coroutine(chance, items):
    @types.coroutine
    def pause():
        yield

    async def steps(first, rest):
        async with contextlib.AsyncExitStack():
            await pause()
            return first, rest
    made = steps(items[0], items[1:])
    for _ in range(chance.below(3)):
        try:
            made.send(None)
        except (StopIteration, RuntimeError):
            break
    unawaited.append(weakref.ref(made))
    return made


unawaited = []


def raised(chance, items):
    def fail(value, depth):
        local = [value]
        if depth:
            fail(value, depth - 1)
        raise Error(items[-1], "text")
    try:
        try:
            fail(items[0], chance.below(3))
        except Error:
            if chance.below(2):
                raise KeyError(items[0])
            raise
    except Exception as fault:
        fault.note = items[0]
        return fault


def structure(chance, items):
    made = Pointers(1, None, (0, 0))
    for item in items:
        if type(item) is int:
            made.first = item
    return made


def pointers(chance, items):
    numbers = [item for item in items if type(item) is int and 0 <= item < 1 << 64]
    return (ctypes.c_void_p * (len(numbers) + 1))(*numbers) if chance.below(2) else array.array("Q", numbers)


def future(chance, items):
    made = asyncio.Future(loop=loop)
    if chance.below(3):
        made.set_result(items)
    else:
        made.cancel()
    return made


loop = asyncio.new_event_loop()


def queues(chance, items):
    made = queue.SimpleQueue() if chance.below(2) else queue.Queue()
    for item in items:
        made.put(item)
    if chance.below(2):
        made.get()
    return made


def local(chance, items):
    made = threading.local()
    made.own = items[0]
    return made


def exits(chance, items):
    made = contextlib.ExitStack()
    made.callback(print, *items)
    return made


def module(chance, items):
    made = types.ModuleType("made")
    made.items = items
    return made


def views(chance, items):
    made = a_dict(chance, items)
    return chance.choice([made.keys, made.values, made.items, lambda: types.MappingProxyType(made),
                          lambda: iter(made.values())])()


def iterators(chance, items):
    made = chance.choice([iter, reversed, enumerate, itertools.chain, itertools.cycle, lambda x: map(id, x), zip,
                          lambda x: iter(tuple(x)), lambda x: itertools.islice(x, 1)])(a_list(chance, items))
    if chance.below(3) == 0:
        try:
            next(made, None)
        except Exception:
            pass
    return made


def weak(chance, items):
    made = [weakref.WeakValueDictionary(), weakref.WeakSet(), weakref.WeakKeyDictionary()]
    for number, item in enumerate(items):
        try:
            made[0][number] = item
            made[2][item] = number
            made.append(weakref.proxy(item))
        except Exception:
            pass
    return made


def members(chance, items):
    return enum.Enum("Members", {"FIRST": items, "SECOND": 2})


def variable(chance, items):
    made = contextvars.ContextVar("made")
    context = contextvars.Context()  # the thread's own one would keep it for ever
    context.run(made.set, items)
    return context


def around(chance, items):
    made = attributes(chance, items)
    made.itself = made
    made.list = [made, items]
    return made


def chained(chance, items):
    made = None
    for _ in range(2 + chance.below(8)):
        link = Plain()
        link.next, link.value = made, chance.choice(items)
        made = link
    return made


def user(chance, items):
    return chance.choice([lambda: collections.UserDict(enumerate(items)), lambda: collections.UserList(items),
                          lambda: collections.ChainMap({"a": items}), lambda: types.SimpleNamespace(value=items[0]),
                          lambda: Data(items[0], items[1:]), lambda: Pair(items[0], items[1:]), lambda: Hostile(items),
                          lambda: deque(items), lambda: property(lambda self: items), lambda: slice(items, 1),
                          lambda: types.SimpleNamespace(cell=types.CellType(items)), lambda: memoryview(b"1234")])()


HOLDERS = [a_list, a_list, a_dict, a_dict, ordered, a_default_dict, a_dict_subclass, keys_only, a_set, a_deque, a_deque,
           lambda chance, items: a_deque(chance, items, Deque), lambda chance, items: tuple(items), a_list_subclass,
           a_tuple_subclass, attributes, attributes, slots, an_own_class, closure, defaults, method, builtin_method,
           partial, cached, generator, coroutine, raised, structure, pointers, future, queues, local, exits, module,
           views, iterators, weak, members, variable, around, chained, user, user]


def make(chance, items):
    return chance.choice(HOLDERS)(chance, items)
