# SPDX-License-Identifier: MIT
"""allocate.py fork|spawn|forkserver|os.fork|daemons|signal|_exit: allocates 8192 bytes from a function in_child (or the
like) in processes and at moments where a tracer gets lost. Prints nothing."""
import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import time


def allocate(release=True):
    lib = (ctypes.CDLL if release else ctypes.PyDLL)("libcuda.so.1")
    context, at = ctypes.c_void_p(), ctypes.c_uint64()
    assert lib.cuInit(0) == 0 and lib.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0
    assert lib.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(8192)) == 0


def in_child(n=1):
    return in_child(n - 1) if n else allocate(n & 1)


def for_ever(lib):
    at = ctypes.c_uint64()
    while True:
        lib.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(8192))
        lib.cuMemFree_v2(at)


def main(how):
    if how in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(how)
        children = [context.Process(target=in_child) for _ in range(2)]
        for c in children:
            c.start()
        for c in children:
            c.join()
            assert c.exitcode == 0, c.exitcode
    elif how == "os.fork":
        pid = os.fork()
        if pid == 0:
            in_child()
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
    elif how == "daemons":
        in_child()
        for lib in (ctypes.CDLL, ctypes.PyDLL) * 2:
            threading.Thread(target=for_ever, args=(lib("libcuda.so.1"),), daemon=True).start()
        time.sleep(0.1)  # their work
    elif how == "signal":
        done = []
        signal.signal(signal.SIGALRM, lambda number, frame: done.append(in_child()))
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        while not done:
            sorted(range(100), key=lambda x: -x)
    elif how == "_exit":
        in_child()
        os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
