# SPDX-License-Identifier: MIT
"""Holds 10 allocations and loses 5, then ends in the way that argv[1] names. Under every CPython from 3.8 on."""

import atexit
import ctypes
import os
import sys
import threading
import time

how = sys.argv[1]
cuda = ctypes.CDLL("libcuda.so.1")
BYTES = ctypes.c_size_t(65536)
HIDDEN = 0x5A5A5A5A00000000  # a key: the address itself is nowhere


def check(result):
    if result != 0:
        raise RuntimeError(f"CUDA answered {result}")


def start():
    context = ctypes.c_void_p()
    check(cuda.cuInit(0))
    check(cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0))
    return context


def allocate():
    place = ctypes.c_uint64()
    check(cuda.cuMemAlloc_v2(ctypes.byref(place), BYTES))
    value = place.value
    place.value = 0
    return value


def free(address):
    check(cuda.cuMemFree_v2(ctypes.c_uint64(address)))


def hold(kept=10, lost=5):
    for _ in range(lost):
        allocate()
    return [allocate() for _ in range(kept)]


def pause():
    """Until a look is due again, and then one event."""
    until = time.monotonic() + 0.05
    while time.monotonic() < until:
        free(allocate())


def free_hidden():
    for hidden in secrets:
        free(hidden ^ HIDDEN)
    secrets.clear()


def replace_hidden():
    """New memory, at the same addresses as what nothing pointed to."""
    count = len(secrets)
    free_hidden()
    again.extend(allocate() for _ in range(count))


secrets, again = [], []
if how in ("frees", "reuses"):  # registered before ours: called after it
    atexit.register(free_hidden if how == "frees" else replace_hidden)
CHILDREN = ("fork", "mp-fork", "mp-spawn")  # a driver that was initialized cannot be used after a fork
if how != "nothing" and how not in CHILDREN:
    context = start()
if how in CHILDREN:
    import multiprocessing

    def child():
        global held, context
        context = start()
        held = hold()

    if __name__ == "__main__" and how == "fork":
        pid = os.fork()
        if pid == 0:
            child()
            sys.exit(4)
        assert os.waitpid(pid, 0)[1] == 4 << 8
    elif __name__ == "__main__":
        process = multiprocessing.get_context(how[3:]).Process(target=child)
        process.start()
        process.join()
        assert process.exitcode == 0
elif how not in ("frees", "reuses", "empty", "nothing"):
    held = hold()

if how == "exit":
    sys.exit(3)
if how == "raise":
    raise RuntimeError("the end")
if how == "_exit":
    os._exit(5)
if how == "thread-exit":
    thread = threading.Thread(target=sys.exit, args=(1,))
    thread.start()
    thread.join()
if how == "thread":  # armed by another thread than the main one
    kept = []
    thread = threading.Thread(target=lambda: kept.extend(hold()))
    del held[:]
    thread.start()
    thread.join()
if how == "daemon":
    def run():
        numbers = {}
        while True:
            numbers[len(numbers) % 1000] = [object() for _ in range(10)]

    for _ in range(4):
        threading.Thread(target=run, daemon=True).start()
if how == "cleared":
    atexit._clear()
    pause()
if how == "called":  # by the program itself: another end comes
    pause()
    atexit._run_exitfuncs()
    more = hold()
    pause()
if how == "later":  # registered after ours: called before it, without another registration
    def drop():
        while held:
            free(held.pop())

    atexit.register(drop)
    pause()
if how == "hooks":  # what the program has put before everything sees nothing of ours
    import builtins

    seen, imported = set(), builtins.__import__

    class Evil:
        def __getattr__(self, name):
            raise KeyboardInterrupt(name)

    def importing(name, *arguments, **more):
        seen.add(name)
        return imported(name, *arguments, **more)

    pause()
    builtins.__import__ = importing
    sys.addaudithook(lambda event, _: seen.add(event))
    sys.modules["atexit"] = Evil()
    sys.setprofile(lambda frame, event, what: seen.add((event, frame.f_code.co_name)))
    held.extend(hold(1, 0))
    pause()
    sys.setprofile(None)
    print(sorted(map(str, seen)))
if how == "interpreters":
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    kept = interpreters.create()
    for interpreter in (interpreters.create(), kept):
        try:
            interpreters.run_string(interpreter, """if True:
                import ctypes
                cuda = ctypes.CDLL("libcuda.so.1")
                place = ctypes.c_uint64()
                cuda.cuMemAlloc_v2(ctypes.byref(place), ctypes.c_size_t(65536))
                """)
        except Exception as fault:  # 3.12 has no ctypes there
            print(type(fault).__name__)
        pause()
        if interpreter is not kept:
            interpreters.destroy(interpreter)
    held.extend(hold(2, 0))
    pause()
if how == "destructor":  # that is called when the interpreter has no modules any more
    import contextvars

    class Late:
        def __init__(self):
            self.address, self.free, self.type = allocate(), cuda.cuMemFree_v2, ctypes.c_uint64

        def __del__(self):
            self.free(self.type(self.address))
            for _ in range(3):
                pass

    pause()
    late = contextvars.ContextVar("late")
    late.set(Late())
if how in ("frees", "reuses"):
    secrets.extend(allocate() ^ HIDDEN for _ in range(5))
if how == "empty":
    free(allocate())
if how == "idle-child":  # it inherits our registration, and has nothing
    pause()
    pid = os.fork()
    if pid == 0:
        sys.exit(4)
    assert os.waitpid(pid, 0)[1] == 4 << 8
if how == "context":  # a function registered later ends the context
    atexit.register(cuda.cuCtxDestroy_v2, context)
