# SPDX-License-Identifier: MIT
"""forks.py HOW COUNT: COUNT processes; in each, a thread makes its first CUDA call while the main one makes a child with os.fork or
multiprocessing (HOW: fork, or one of multiprocessing's start methods), whose child calls CUDA too. Prints how many hung."""
import ctypes
import multiprocessing
import os
import select
import signal
import sys
import threading
import time
import warnings

warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads
LONG_ENOUGH = float(os.environ.get("LONG_ENOUGH", 60))  # only catches a hang


def use_cuda():
    cuda, p = ctypes.CDLL("libcuda.so.1"), ctypes.c_uint64()
    assert cuda.cuInit(0) == 0 and cuda.cuCtxCreate_v2(ctypes.byref(p), 0, 0) == 0
    assert cuda.cuMemAlloc_v2(ctypes.byref(p), ctypes.c_size_t(4096)) == 0
    assert cuda.cuMemFree_v2(p) == 0


def say(fd):
    use_cuda()
    os.write(fd, b"x")


def ends(fd, child):
    ready = select.select([fd], [], [], LONG_ENOUGH)[0]
    if not ready:
        os.kill(child, signal.SIGKILL)
    return bool(ready)


def race(how, turn):
    thread, (ours, theirs) = threading.Thread(target=use_cuda), os.pipe()
    os.set_inheritable(theirs, True)
    thread.start()
    until = time.perf_counter() + turn % 97 * 2e-5
    while time.perf_counter() < until:
        pass
    if how == "os.fork":
        child = os.fork()
        if child == 0:
            say(theirs)
            os._exit(0)
        ended = ends(ours, child)
        assert not ended or os.waitpid(child, 0)[1] == 0
    else:
        child = multiprocessing.get_context(how).Process(target=use_cuda)
        child.start()
        ended = ends(child.sentinel, child.pid)
        child.join()
        assert not ended or child.exitcode == 0
    thread.join()
    return ended


def main():
    hung = 0
    for turn in range(int(sys.argv[2])):
        parent = os.fork()
        if parent == 0:
            status = 4
            try:
                status = 0 if race(sys.argv[1], turn) else 3
            finally:
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(parent, 0)[1]) if sys.version_info >= (3, 9) else os.waitpid(parent, 0)[1] >> 8
        assert status in (0, 3), status
        hung += status == 3
    print(f"{hung} hung")


if __name__ == "__main__":
    main()
