# SPDX-License-Identifier: MIT
"""A program of many threads that holds memory of the simulated GPU and ends in the way that argv[1] names, at a moment
that argv[2], a seed, shifts. Used by run-ends, on every CPython from 3.8 on."""

import atexit
import ctypes
import os
import random
import signal
import sys
import threading
import time

how, chance = sys.argv[1], random.Random(int(sys.argv[2]))
cuda = ctypes.CDLL("libcuda.so.1")
libc = ctypes.CDLL(None)
context = ctypes.c_void_p()
held, failed = {}, []
begun = threading.Semaphore(0)


def start():
    if cuda.cuInit(0) or cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0):
        os._exit(99)


def allocate(size=4096):
    place = ctypes.c_uint64()
    cuda.cuCtxSetCurrent(context)
    if cuda.cuMemAlloc_v2(ctypes.byref(place), ctypes.c_size_t(size)):
        failed.append(size)
    return place.value


def free(address):
    cuda.cuCtxSetCurrent(context)
    cuda.cuMemFree_v2(ctypes.c_uint64(address))


class Late:
    """Allocates as it goes."""

    def __init__(self):
        self.allocate, self.address = allocate, allocate()

    def __del__(self):
        self.allocate()


def allocating(steps=1 << 30):
    mine = []
    held[threading.get_ident()] = mine
    begun.release()
    for step in range(steps):
        mine.append(allocate())
        if len(mine) > 20:
            free(mine.pop(0))


def computing():
    begun.release()
    numbers = {}
    while True:
        numbers[len(numbers) % 1000] = [object() for _ in range(10)]


def sleeping():
    begun.release()
    while True:
        libc.usleep(200)


def waiting(end):
    begun.release()
    os.read(end, 1)


def threads(*what, daemon=True):
    for number, (function, *arguments) in enumerate(what):
        threading.Thread(target=function, args=arguments, daemon=daemon).start()
    for _ in what:
        begun.acquire()


def pause(most=0.02):
    time.sleep(chance.random() * most)


def daemons():
    threads((allocating,), (allocating,), (computing,))


def native():
    end, _ = os.pipe()
    threads((sleeping,), (sleeping,), (waiting, end), (allocating,))


def joined():
    threads((allocating, 100), (allocating, 200), daemon=False)


def raised():
    threads((allocating, 100), (allocating,))
    pause()
    sys.excepthook = lambda *_: None
    raise RuntimeError


def exit_now():
    threads((allocating,), (computing,), (allocating,))
    pause()
    os._exit(5)


def exit_in_thread():
    def end():
        begun.release()
        pause()
        os._exit(5)
    threads((allocating,), (computing,), (end,))
    allocating()


def exit_while_finalizing():
    def end():
        begun.release()
        libc.usleep(chance.randrange(20000))
        os._exit(5)
    threads((allocating,), (end,))
    atexit.register(lambda: [allocate() for _ in range(20)])
    held["late"] = [Late() for _ in range(20)]


def system_exit_in_thread():
    def end():
        begun.release()
        sys.exit(3)
    threads((allocating,), (end,))


def handlers():
    def handler():
        try:
            thread = threading.Thread(target=allocating, args=(20,))
            thread.start()
            thread.join()
        except RuntimeError:  # not at this moment, from 3.12 on
            allocate()
    atexit.register(handler)
    threads((allocating,), (computing,))
    pause()
    atexit.register(handler)


def cleared():
    threads((allocating,), (computing,))
    atexit.register(allocate)
    pause()
    atexit._clear()


def forked():
    threads((allocating,), (computing,))
    for way in range(2):
        pid = os.fork()
        if pid == 0:
            start()
            held["child"] = [allocate() for _ in range(10)]
            if way:
                os._exit(0)
            sys.exit(0)
        os.waitpid(pid, 0)


def signalled():
    signal.signal(signal.SIGALRM, lambda *_: sys.exit(4))
    threads((allocating,), (sleeping,))
    signal.setitimer(signal.ITIMER_REAL, 0.0001 + chance.random() / 50)
    allocating()


def pooled():
    from concurrent.futures import ThreadPoolExecutor
    pool = ThreadPoolExecutor(3)
    held["pool"] = [pool.submit(allocating, 50) for _ in range(6)]


def destructors():
    threads((allocating,))
    held["late"] = [Late() for _ in range(20)]
    held["me"] = held


WAYS = {"daemons": 0, "native": 0, "joined": 0, "raised": 1, "exit_now": 5, "exit_in_thread": 5,
        "exit_while_finalizing": (0, 5), "system_exit_in_thread": 0, "handlers": 0, "cleared": 0, "forked": 0,
        "signalled": 4, "pooled": 0, "destructors": 0}

if __name__ == "__main__":
    start()
    held["main"] = [allocate() for _ in range(10)]
    globals()[how]()
    pause()
