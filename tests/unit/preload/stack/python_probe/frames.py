# SPDX-License-Identifier: MIT
"""frames.py PROBE: calls the probe from every kind of Python frame and compares what it saw with what Python says.

Each check is frame by frame: function (qualified name from 3.11 on), file and line, against the chain from
sys._getframe() and against traceback.extract_stack(). Prints the number of checks; exit status 1 when one differed.
"""
import asyncio
import atexit
import ctypes
import functools
import gc
import os
import signal
import sys
import threading
import warnings

import compare as comparing
from compare import Buffer, CALLBACK, PATH, QUALIFIED, bad, compare, held, hit, kinds, parse, read_merged, released, snapshot

warnings.simplefilter("ignore", DeprecationWarning)  # fork with threads: that is what is tested


def nested():
    def inner():
        def innermost():
            hit("nested")

        innermost()

    inner()


def generators():
    def numbers():
        hit("generator")
        yield 1
        hit("generator resumed")
        yield 2

    def outer():
        yield from numbers()

    list(outer())
    g = numbers()
    next(g)
    next(g)
    sum(1 for _ in [hit("generator expression")])


def throw_and_close():
    def g():
        try:
            yield
        except ValueError:
            hit("generator, thrown into")
            yield
        finally:
            hit("generator, closed")

    it = g()
    next(it)
    it.throw(ValueError())
    it.close()


def coroutines():
    class Awaitable:
        def __await__(self):
            hit("__await__")
            yield from asyncio.sleep(0).__await__()
            hit("__await__ resumed")

    async def agen():
        for i in range(2):
            hit("async generator")
            yield i
            await asyncio.sleep(0)

    async def leaf():
        await asyncio.sleep(0)
        hit("coroutine")
        await Awaitable()

    class Manager:
        async def __aenter__(self):
            hit("__aenter__")

        async def __aexit__(self, *args):
            hit("__aexit__")

    async def main():
        await leaf()
        await asyncio.gather(leaf(), leaf())
        async for _ in agen():
            hit("async for")
        async with Manager():
            hit("async with")
        [hit("async comprehension") async for _ in agen()]

    loop = asyncio.new_event_loop()
    loop.run_until_complete(main())
    loop.close()


def comprehensions():
    [hit("list comprehension") for _ in range(1)]
    {hit("set comprehension") for _ in range(1)}
    {hit("dict comprehension"): 1 for _ in range(1)}
    [[hit("nested comprehension") for _ in range(1)] for _ in range(1)]
    (lambda: hit("lambda"))()


def decorators():
    def decorate(f):
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            hit("decorator")
            return f(*args, **kwargs)

        hit("decorating")
        return wrapper

    @decorate
    @functools.lru_cache(None)
    def decorated(x):
        return hit("decorated")

    decorated(1)
    functools.partial(hit)("partial")


def exec_and_eval():
    exec("def made():\n\n    hit('exec')\nmade()", dict(hit=hit))
    eval("hit('eval')", dict(hit=hit))
    exec(compile("\n" * 300 + "hit('far line')", "far \u00e9.py", "exec"), dict(hit=hit))
    exec(compile("hit('long file name')", "/" + "d" * 800 + "/x.py", "exec"), dict(hit=hit))
    # Names in each of the three string forms.
    for name in ("\u00e9t\u00e9", "\u6f22\u5b57", "\U0001d4d0\U0001d4d1"):
        space = dict(hit=hit)
        exec(compile(f"def {name}():\n    hit('name')\n{name}()", f"file {name}", "exec"), space)
    code = compile("hit('\\ud800')", "lone \ud800 surrogate", "exec")
    exec(code, dict(hit=hit))

    class Str(str):
        pass

    exec(compile("hit('subclass of str')", Str("subclass.py"), "exec"), dict(hit=hit))


def code_replaced():
    def f():
        hit("code replaced")

    class Str(str):
        pass

    names = dict(co_name="other", co_qualname="some.other") if QUALIFIED else dict(co_name="other")
    f.__code__ = f.__code__.replace(co_filename="elsewhere.py", co_firstlineno=70000, **names)
    f()


def class_bodies():
    class Outer:
        hit("class body")

        class Inner:
            hit("nested class body")

        def method(self):
            hit("method")

        @classmethod
        def klass(cls):
            hit("classmethod")

        @staticmethod
        def static():
            hit("staticmethod")

        @property
        def prop(self):
            return hit("property")

        def __init__(self):
            hit("__init__")

        def __getattr__(self, name):
            return hit("__getattr__")

        def __getitem__(self, key):
            return hit("__getitem__")

        def __eq__(self, other):
            return bool(hit("__eq__"))

        def __call__(self):
            return hit("__call__")

        def __enter__(self):
            hit("__enter__")

        def __exit__(self, *args):
            hit("__exit__")

        def __iter__(self):
            hit("__iter__")
            return iter(())

        def __repr__(self):
            return hit("__repr__")

        def __hash__(self):
            hit("__hash__")
            return 1

    class Meta(type):
        def __new__(mcs, *args):
            hit("metaclass")
            return super().__new__(mcs, *args)

        def __init_subclass__(cls):
            hit("__init_subclass__")

    class Made(metaclass=Meta):
        pass

    class Sub(Outer):
        def __init__(self):
            super().__init__()
            hit("__init__ of a subclass")

    o = Outer()
    Sub()
    o.method(), o.klass(), o.static(), o.prop, o.nothing, o[1], o == o, o(), list(o), repr(o), hash(o), {o: 1}
    with o:
        pass


def callbacks_from_c():
    sorted([2, 1, 3], key=lambda x: hit("sort key") and x)
    list(map(lambda x: hit("map"), [1]))
    list(filter(lambda x: hit("filter"), [1]))
    functools.reduce(lambda a, b: hit("reduce"), [1, 2])
    max([1, 2], key=lambda x: hit("max key") and x)
    import re

    re.sub("a", lambda m: hit("re.sub"), "a")
    import json

    json.dumps(object(), default=lambda o: hit("json default"))
    {}.setdefault(1, hit("setdefault"))


def callbacks_from_ctypes():
    def back():
        hit("ctypes callback")
        return 0

    def twice():
        released.probe_call(CALLBACK(back))
        return 0

    for lib in (released, held):
        lib.probe_call(CALLBACK(back))
        lib.probe_call(CALLBACK(twice))
    # Python did not start this thread.
    released.probe_call_on_thread(CALLBACK(lambda: bool(hit("foreign thread"))))
    released.probe_call_on_thread(CALLBACK(twice))
    compare("foreign thread without Python", released.probe_on_thread(), 0)


def threads():
    def run(i):
        for _ in range(20):
            nested_in_thread(i)

    def nested_in_thread(i):
        hit("thread")

    all_threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for t in all_threads:
        t.start()
    for t in all_threads:
        t.join()
    import _thread

    done = threading.Event()
    _thread.start_new_thread(lambda: (hit("raw thread"), done.set()), ())
    done.wait(10)


def destructors():
    class Dropped:
        def __del__(self):
            hit("__del__")

    d = Dropped()
    del d
    a, b = Dropped(), []
    b.append(b)
    b.append(a)
    del a, b
    gc.collect()
    import weakref

    e = Dropped()
    weakref.finalize(e, hit, "weakref.finalize")
    del e


def signals():
    signal.signal(signal.SIGUSR1, lambda number, frame: hit("signal handler"))
    os.kill(os.getpid(), signal.SIGUSR1)
    for _ in range(1000):
        pass


def tracing():
    def back(frame, event, arg):
        # A trace function that captures: the line is the one about to run.
        if event in ("call", "return") and len(kinds) % 3 == 0:
            sys.settrace(None)
            hit("trace function")
            sys.settrace(back)
        return back

    def traced():
        x = 1
        hit("traced")
        return x

    sys.settrace(back)
    traced()
    sys.settrace(None)
    sys.setprofile(lambda *a: None)
    hit("profiled")
    sys.setprofile(None)


def exceptions():
    try:
        raise ValueError
    except ValueError:
        hit("except")
    finally:
        hit("finally")
    # A call over several lines: the line of the call, by the interpreter's own rule.
    hit(
        "call over"
        " several lines"
    )
    x = [
        1,
        hit("in the middle of a list"),
        3,
    ]
    assert x and hit("assert")
    if True and \
            hit("continued line"):
        pass
    for i in range(
            len([hit("in a for")])):
        pass
    while not hit("while"):
        pass


def deep():
    def down(n):
        if n:
            down(n - 1)
        else:
            hit("deep")

    down(90)

    def past(n):
        if n:
            return past(n - 1)
        buf = Buffer()
        n, (expected, _) = released.probe(buf, len(buf)), snapshot(sys._getframe())
        compare("deeper than is kept", parse(buf.value), expected[:128])
        compare("deeper than is kept: said so", released.probe_truncated(), 1)

    past(300)


def long_function():
    body = ["def long_one(hit):"]
    for i in range(8000):
        body.append(f"    hit('8,000 lines') if {i} % 1000 == 999 else None" if i % 1000 == 999 else f"    x{i % 7} = {i}")
    space = {}
    exec(compile("\n".join(body), "long.py", "exec"), space)
    space["long_one"](hit)
    # Lines that go back and far, and a table of long jumps.
    import ast

    tree = ast.parse("def jumps(hit):\n" + "\n".join("    hit('jumping lines')" for _ in range(6)))
    for i, node in enumerate(tree.body[0].body):
        for sub in ast.walk(node):
            if hasattr(sub, "lineno"):
                sub.lineno = sub.end_lineno = (100000 * i + 7) if i % 2 else 50 + i
    space = {}
    exec(compile(tree, "jumps.py", "exec"), space)
    space["jumps"](hit)


def imports():
    import importlib.util
    import tempfile

    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "imported.py")
        with open(path, "w") as f:
            f.write("import sys\nhit = sys.modules['__main__'].hit\n\nhit('import')\nclass A:\n    hit('import class')\n")
        sys.path.insert(0, d)
        import imported  # noqa: F401

        sys.path.remove(d)


def merged_simply():
    def g():
        for lib in (released, held):
            order, _ = read_merged(lib)
            compare("merged: placed", order, "ordered")
            yield order

    sorted([1, 2], key=lambda x: list(g()))


def merged():
    """The merged stack: right order, C frames between Python frames, the interpreter's own frames marked."""

    def inner():
        for lib in (released, held):
            order, lines = read_merged(lib)
            compare("merged: placed", order, "ordered")
            # Each run of Python frames is followed by the interpreter's loop that ran it; and where C called back, the
            # C frame stands between.
            names = [line.split("\t")[0] for line in lines]
            q = (lambda n: "P merged.<locals>." + n) if QUALIFIED else (lambda n: "P " + n)
            at = {n: i for i, n in reversed(list(enumerate(names)))}
            want = ["P read_merged", q("inner"), "N probe_call", q("outer"), q("between"), "N probe_call", q("begin")]
            position = -1
            for w in want:
                found = next((i for i in range(position + 1, len(names)) if names[i] == w), None)
                compare(f"merged: {w} after {position} ({names})" if found is None else "merged: order",
                        found is not None, True)
                position = found if found is not None else position
            own = [n for n in names if n[0] == "I" and "_PyEval_EvalFrameDefault" in n]
            compare("merged: an eval frame visible", [n for n in names if n.startswith("N _PyEval_Eval")], [])
            compare("merged: eval frames marked", len(own) > 0 or sys.version_info >= (3, 13), True)
            compare("merged: after a Python frame no other than its loop",
                    [names[i + 1] for i in range(len(names) - 1)
                     if names[i][0] == "P" and names[i + 1][0] == "N"], [])
        # Cut and without stack pointers: nothing is lost, nothing is invented.
        for depth in (0, 1, 3, 8, 20):
            order, _ = read_merged(held, depth)
            compare(f"merged, cut at {depth}", order, "ordered")
        order, _ = read_merged(held, 1000, 0)
        compare("merged without stack pointers", order, "unordered" if sys.version_info >= (3, 10) else "ordered")
        return 0

    def outer():
        released.probe_call(CALLBACK(inner))
        return 0

    def between():
        return outer()

    def begin():
        held.probe_call(CALLBACK(between))

    begin()
    sorted([1, 2], key=lambda x: read_merged(held) and x)
    next(y for y in [read_merged(released)])

    def on_thread():
        order, _ = read_merged(released)
        compare("merged on a thread", order, "ordered")
        return 0

    t = threading.Thread(target=on_thread)
    t.start()
    t.join()
    # In a sub-interpreter ctypes would run this in the main one.
    if __name__ == "__main__":
        released.probe_call_on_thread(CALLBACK(on_thread))


def sub_interpreters():
    source = (f"import sys, os\nsys.argv = ['sub', {PATH!r}]\nsys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})\n"
              "import frames\nframes.hit('sub-interpreter')\n"
              "def f():\n    frames.hit('function in a sub-interpreter')\nf()\n"
              "frames.nested(); frames.callbacks_from_c(); frames.coroutines(); frames.merged_simply()\n"
              # Before 3.12 a ctypes callback in a sub-interpreter waits for the GIL that its own thread holds.
              "if sys.version_info >= (3, 12): frames.merged()\n"
              "if frames.bad: raise SystemError(str(frames.bad))\n")
    try:
        if sys.version_info >= (3, 13):
            import _interpreters as interpreters

            made = interpreters.create("legacy")
        else:
            import _xxsubinterpreters as interpreters

            made = interpreters.create(isolated=False) if sys.version_info >= (3, 9) else interpreters.create()
    except ImportError as e:
        print(f"no sub-interpreters here: {e}")
        return
    failure = interpreters.run_string(made, source)
    compare(f"sub-interpreter {failure}", failure is None, True)
    hit("main interpreter after a sub-interpreter ran")
    interpreters.destroy(made)
    hit("main interpreter after a sub-interpreter was destroyed")
    kinds.append("sub-interpreter")


def forks():
    def child():
        held.probe_forked()
        hit("forked child")
        sys.stdout.flush()
        os._exit(1 if bad else 0)

    pid = os.fork()
    if pid == 0:
        child()
    compare("fork", os.waitpid(pid, 0)[1], 0)

    def from_thread():
        pid = os.fork()
        if pid == 0:
            child()
        compare("fork from a thread", os.waitpid(pid, 0)[1], 0)

    t = threading.Thread(target=from_thread)
    t.start()
    t.join()


def cost():
    def down(n, rounds):
        return down(n - 1, rounds) if n else held.probe_cost(rounds)

    base = len(snapshot(sys._getframe())[0])
    figures = []
    for depth in (5, 20, 50):
        ns = min(down(depth - base - 2, 20000) for _ in range(5))
        compare(f"an unchanged stack of {depth} is seen as the same", ns > 0, True)
        figures.append(f"{ns:.0f}")
    print("ns per capture, warm, depth 5/20/50:", "/".join(figures))


def run_all():
    for kind in (nested, generators, throw_and_close, coroutines, comprehensions, decorators, exec_and_eval,
                 code_replaced, class_bodies, callbacks_from_c, callbacks_from_ctypes, threads, destructors, signals,
                 tracing, exceptions, deep, long_function, imports, merged, sub_interpreters, forks, cost):
        kind()


@atexit.register
def at_exit():
    if __name__ != "__main__":
        return
    hit("atexit")
    print(f"Python {sys.version.split()[0]}: {comparing.checks} checks of {len(set(kinds))} kinds of frame, {len(bad)} differ")
    if bad:
        sys.stdout.flush()
        os._exit(1)


if __name__ == "__main__":
    if held.probe_state() != 2:
        print("not active:", held.probe_why().decode() or "no interpreter found")
        os._exit(1)
    run_all()
