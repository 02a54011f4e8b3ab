"""Allocates in functions and files whose names are hard to show, in phases of such names; argument `fill` ends it out of
memory, `fine` without anything that is worth a word."""
import ctypes
import json
import sys

cuda = ctypes.CDLL("libcuda.so.1")
marks = ctypes.CDLL("./marks.so")
kept = []
context = ctypes.c_void_p()
cuda.cuInit(0)
cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0)


def make(name, phase, size):
    code = compile("def f(pointer, size):\n    return cuda.cuMemAlloc_v2(pointer, size)\n", f"/tmp/{name}.py", "exec")
    found, pointer = {"cuda": cuda}, ctypes.c_uint64()
    exec(code, found)
    found["f"].__code__ = found["f"].__code__.replace(co_name=name, co_filename=f"/tmp/{name}.py")
    marks.push(phase.encode("latin1", "replace"))
    if found["f"](ctypes.byref(pointer), ctypes.c_size_t(size)):
        raise MemoryError
    kept.append(pointer.value)
    marks.pop()


names = json.load(open("names.json", encoding="utf-8"))
if sys.argv[1] == "fine":
    names = ["plain"]
for n, name in enumerate(names):
    make(name, name, (64 + len(names) - n) << 20)
while sys.argv[1] == "fill":
    make(names[0], "filling", 1 << 30)
if sys.argv[1] == "fine":
    cuda.cuMemFree_v2(ctypes.c_uint64(kept.pop()))
