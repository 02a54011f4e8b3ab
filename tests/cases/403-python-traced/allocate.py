# SPDX-License-Identifier: MIT
"""allocate.py EXPECTED: allocates device memory of a size of its own from every kind of Python frame (frames.py has them),
with the GIL released and held, and writes what Python says about each place: {size: [[function, file, line], …]}."""
import ctypes
import json
import sys
import types

released, held = ctypes.CDLL("libcuda.so.1"), ctypes.PyDLL("libcuda.so.1")
for lib in (released, held):
    lib.cuMemAlloc_v2.argtypes = [ctypes.POINTER(ctypes.c_uint64), ctypes.c_size_t]
context = ctypes.c_void_p()
assert released.cuInit(0) == 0 and released.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0
QUALIFIED = sys.version_info >= (3, 11)
expected = {}


def snapshot(frame):
    out = []
    while frame is not None:
        code = frame.f_code
        name, file = code.co_qualname if QUALIFIED else code.co_name, code.co_filename
        out.append((name.replace("\ud800", "\ufffd"), file.replace("\ud800", "\ufffd"), frame.f_lineno or 0))
        frame = frame.f_back
    return out


def hit(kind):
    for lib in (released, held):
        at, size = ctypes.c_uint64(), 4096 + 512 * len(expected)
        status, expected[size] = lib.cuMemAlloc_v2(ctypes.byref(at), size), snapshot(sys._getframe())
        assert status == 0, (kind, status)
    return kind


# frames.py asks `compare` for the probe; here the probe is the traced driver.
stand_in = types.ModuleType("compare")
stand_in.__dict__.update(hit=hit, held=held, released=released, Buffer=None, CALLBACK=None, PATH="", QUALIFIED=QUALIFIED,
                         bad=[], kinds=[], compare=None, parse=None, read_merged=None, snapshot=snapshot, checks=0)
sys.modules["compare"] = stand_in
import frames  # noqa: E402

frames.hit, sys.modules["__main__"].hit = hit, hit
for kind in (frames.nested, frames.generators, frames.throw_and_close, frames.coroutines, frames.comprehensions,
             frames.decorators, frames.exec_and_eval, frames.code_replaced, frames.class_bodies, frames.callbacks_from_c,
             frames.destructors, frames.signals, frames.exceptions, frames.long_function, frames.imports):
    kind()
with open(sys.argv[1], "w") as f:
    json.dump(expected, f)
