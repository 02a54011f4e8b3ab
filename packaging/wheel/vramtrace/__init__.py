# SPDX-License-Identifier: MIT
"""vramtrace: records every GPU memory allocation of a program, and explains afterwards who held it.

    vramtrace run -- python train.py     traces a program (also: python -m vramtrace run ...)
    vramtrace report                     explains the newest run
    pytest --vramtrace                   runs the tests traced; a test that leaks fails

What a program can tell the trace about itself (vramtrace.h(3) has the same for C). In a process that is not traced these do
nothing, so they can stay in the program:

    with vramtrace.phase("epoch"): ...   a phase; one that repeats is an iteration, and growth is measured between them
    vramtrace.mark("resumed")            a moment on the timeline
    vramtrace.snapshot("before save")    looks for what keeps the memory that is live now; True if it was done
    vramtrace.live_bytes(device=-1)      device memory that this process holds now (-1: on all devices)
    vramtrace.active()                   is this process traced?
    vramtrace.simulated()                is it on the simulated GPU?

This folder is laid out as an installed tree (bin, lib, include, share), and can be used as one: `library()` is what
LD_PRELOAD takes.
"""

import os

__version__ = "@VERSION@"
__all__ = ["active", "command", "library", "live_bytes", "mark", "phase", "pop", "push", "simulated", "snapshot"]

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_calls = None


def command():
    """The path of the vramtrace command."""
    return os.path.join(_FOLDER, "bin", "vramtrace")


def library():
    """The path of the library that LD_PRELOAD takes (`vramtrace run` does more)."""
    return os.path.join(_FOLDER, "lib", "libvramtrace.so")


def _call(name, *arguments):
    """Calls a function of the preloaded library; None where there is none."""
    global _calls
    if _calls is None:
        _calls = _find_calls()
    function = _calls.get(name)
    return function(*arguments) if function else None


def _find_calls():
    try:
        import ctypes  # here, because programs that are not traced need not wait for it

        # PyDLL keeps the interpreter's lock: the calls are short, and in a snapshot no other thread moves objects.
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


def mark(name):
    """Marks a moment of the timeline."""
    _call("mark", _bytes(name))


def push(name):
    """Begins a phase of the calling thread. Phases nest, at most 64 deep."""
    _call("push", _bytes(name))


def pop():
    """Ends the innermost phase that this thread began. Does nothing if there is none."""
    _call("pop")


class phase:
    """A phase of the calling thread: `with vramtrace.phase("epoch"):`, or `@vramtrace.phase("step")` before a function."""

    def __init__(self, name):
        self.name = _bytes(name)

    def __enter__(self):
        _call("push", self.name)
        return self

    def __exit__(self, *error):
        _call("pop")
        return False

    def __call__(self, function):
        import functools

        @functools.wraps(function)
        def inside(*arguments, **named):
            with self:
                return function(*arguments, **named)

        return inside


def snapshot(name=None):
    """Looks for the owners of all GPU memory that is live now; the report shows them under this name. True if it was done."""
    return bool(_call("snapshot", None if name is None else _bytes(name)))


def live_bytes(device=-1):
    """Bytes of device memory that this process holds on a device now; -1: on all of them. 0 when not traced."""
    return _call("live_bytes", device) or 0


def active():
    """Whether this process is traced."""
    return bool(_call("active"))


def simulated():
    """Whether this process runs on vramtrace's simulated GPU."""
    return bool(_call("simulated"))
