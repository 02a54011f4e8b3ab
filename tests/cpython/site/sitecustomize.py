# SPDX-License-Identifier: MIT
"""Loaded by each interpreter of tests/cpython/run as it starts: holds memory of the simulated GPU in many ways, so that
owners are looked for when the process ends. VT_HOLD=forked: not this process does, but each child that it forks, since a
driver that is in use does not survive a fork. Nothing that goes wrong here is seen."""


def _hold():
    import ctypes

    cuda = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    if cuda.cuInit(0) or cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0):
        return

    def allocate(number):
        place = ctypes.c_uint64()
        cuda.cuMemAlloc_v2(ctypes.byref(place), ctypes.c_size_t(4096 * number))
        return place.value

    class Holder:
        pass

    def closure(address):
        return lambda: address

    def generator(address):
        yield address

    held = Holder()
    held.number, held.list = allocate(1), [allocate(n) for n in range(2, 5)]
    held.by_name = {"a": allocate(5), "b": (allocate(6),)}
    held.call, held.generator = closure(allocate(7)), generator(allocate(8))
    next(held.generator)
    held.me = held
    for n in range(4):
        allocate(9)  # nothing holds these
    import sys

    sys.modules[__name__].held = held


def _try():
    try:
        _hold()
    except BaseException:  # an interpreter that has no ctypes, a low limit
        pass


def _start():
    import os

    # Only the first interpreter of a process: one that ends while threads of others run can hang, in some versions.
    if os.environ.get("VT_HOLDS") == str(os.getpid()):
        return
    os.environ["VT_HOLDS"] = str(os.getpid())
    if os.environ.get("VT_HOLD") != "forked":
        _try()
    elif hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_try)


try:
    _start()
except BaseException:
    pass
