# SPDX-License-Identifier: MIT
"""vramtrace: records every GPU memory allocation of a program, and explains afterwards who held it.

    vramtrace run -- python train.py     traces a program (also: python -m vramtrace run ...)
    vramtrace report                     explains the newest run
    pytest --vramtrace                   runs the tests traced; a test that leaks fails

Functions with which a program adds information to the trace (vramtrace.h(3) has the same for C). In an untraced
process they do nothing, so they can stay in the program:

    with vramtrace.phase("epoch"): ...   a phase; a repeated one is an iteration, and growth is measured between iterations
    vramtrace.mark("resumed")            a moment on the timeline
    vramtrace.snapshot("before save")    searches for the owners of the memory that is live now; True if it was done
    vramtrace.live_bytes(device=-1)      device memory that this process holds now (-1: on all devices)
    vramtrace.report()                   the report of this process so far; in a notebook's last cell, as a page
    vramtrace.active()                   is this process traced?
    vramtrace.simulated()                is it on the simulated GPU?

This folder has the layout of an installed tree (bin, lib, include, share), and can be used as one: `library()` is
the value for LD_PRELOAD.
"""

from __future__ import annotations

import os

__version__ = "@VERSION@"
__all__ = ["active", "command", "library", "live_bytes", "mark", "phase", "pop", "push", "report", "simulated", "snapshot"]

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_calls = None


def command() -> str:
    """The path of the vramtrace command."""
    return os.path.join(_FOLDER, "bin", "vramtrace")


def library() -> str:
    """The path of the library for LD_PRELOAD (`vramtrace run` does more)."""
    return os.path.join(_FOLDER, "lib", "libvramtrace.so")


def _call(name, *arguments):
    """Calls a function of the preloaded library; None if it is not preloaded."""
    global _calls
    if _calls is None:
        _calls = _find_calls()
    function = _calls.get(name)
    return function(*arguments) if function else None


def _find_calls():
    try:
        import ctypes  # here, so that untraced programs do not wait for it

        # PyDLL keeps the interpreter's lock: the calls are short, and during a snapshot no other thread moves
        # objects.
        library = ctypes.PyDLL(None)
        library.vramtrace_v1_active
    except (ImportError, OSError, AttributeError):
        return {}
    found = {}
    for name, result, *arguments in (
        ("mark", None, ctypes.c_char_p),
        ("push", None, ctypes.c_char_p),
        ("pop", None),
        ("snapshot", ctypes.c_int, ctypes.c_char_p),
        ("live_bytes", ctypes.c_int64, ctypes.c_int),
        ("active", ctypes.c_int),
        ("simulated", ctypes.c_int),
    ):
        found[name] = getattr(library, f"vramtrace_v1_{name}")
        found[name].restype, found[name].argtypes = result, arguments
    return found


def _bytes(name):
    return name if isinstance(name, bytes) else str(name).encode("utf-8", "replace")


def mark(name: str | bytes) -> None:
    """Marks a moment of the timeline. At most 200 bytes of the name are kept."""
    _call("mark", _bytes(name))


def push(name: str | bytes) -> None:
    """Begins a phase of the calling thread. Phases nest, at most 64 deep."""
    _call("push", _bytes(name))


def pop() -> None:
    """Ends the innermost phase that this thread began. Does nothing if there is none."""
    _call("pop")


class phase:
    """A phase of the calling thread: `with vramtrace.phase("epoch"):`, or `@vramtrace.phase("step")` before a
    function.

    A repeated name makes iterations: the report measures growth from one to the next. The phase also ends when an exception
    leaves it. Phases of a thread nest: two tasks of one event loop that wait in their phases end each other's. Before `async def`
    or a generator it raises TypeError, because such a function returns before its body runs."""

    def __init__(self, name: str | bytes) -> None:
        self.name = _bytes(name)

    def __enter__(self) -> phase:
        _call("push", self.name)
        return self

    def __exit__(self, *error: object) -> None:
        _call("pop")

    def __call__(self, function):
        import functools
        import inspect

        if any(is_kind(function) for is_kind in (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)):
            raise TypeError(f"vramtrace.phase: {function.__qualname__}() returns before its body runs: put `with vramtrace.phase(...):` inside, "
                            "around what does not wait")

        @functools.wraps(function)
        def inside(*arguments, **named):
            with self:
                return function(*arguments, **named)

        return inside


def snapshot(name: str | bytes | None = None) -> bool:
    """Searches for the owners of all GPU memory that is live now; the report shows them under this name.

    True if it was done; False if not: nothing is live, VRAMTRACE_SNAPSHOT=off, or not traced. It takes at least milliseconds,
    depending on the size of the process."""
    return bool(_call("snapshot", None if name is None else _bytes(name)))


def live_bytes(device: int = -1) -> int:
    """Bytes of device memory that this process holds now on the device with this ordinal, or on all devices (-1).

    Memory allocated from the driver, without managed memory and pinned host memory, but including PyTorch's cache.
    0 if not traced. It walks the tracer's table: for an assertion or once per step, not for an inner loop."""
    import operator

    return _call("live_bytes", operator.index(device)) or 0


def active() -> bool:
    """Whether this process is traced."""
    return bool(_call("active"))


def simulated() -> bool:
    """Whether this process runs on vramtrace's simulated GPU. False if not traced."""
    return bool(_call("simulated"))


def report(format: str | None = None, *, snapshot: bool = True, height: int = 720, **options):
    """The report of this process so far, like `vramtrace report`. In a notebook's last cell it is shown as a page.

    format     "text", "html", "markdown" or "json"; None: text, and in a notebook also the page
    snapshot   search for the owners of live memory first (see snapshot()), so that the report can name them
    height     of the page in a notebook, in pixels
    options    the command's, by their names: top=20, by="owner", since="epoch#3", native=True, own=["src/*", "lib/*"]

    Returns an object whose str() is the report; save(path) writes it. In a notebook, cells have the numbers of their prompts:
    In [3]:2 is the second line of that cell. In an untraced process, or before the first use of CUDA, the object is false and
    states the reason. Raises ValueError, with the command's message, for an invalid option, and OSError if it cannot be
    started."""
    from . import _report

    return _report.make(format, snapshot, height, options)
