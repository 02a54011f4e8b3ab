# SPDX-License-Identifier: MIT
"""churn.py PROBE SECONDS: eight threads define, call, run and drop functions while the collector runs, and every call
captures. Function f_<id>_<line> lives in file "churn <id>" at that line, so every name proves itself; and what a
(code object, tag) pair was called at first sight must be what it is called at each later one. Exit status 1: a wrong name.
"""
import ctypes
import gc
import os
import random
import sys
import threading
import time

path, seconds = os.path.abspath(sys.argv[1]), float(sys.argv[2])
released, held = ctypes.CDLL(path), ctypes.PyDLL(path)
for lib in (released, held):
    lib.probe_churn.argtypes = [ctypes.c_ulong]
gc.set_threshold(50, 2, 2)
stop = threading.Event()
failed = []
turns = [0] * 8  # of each thread


def id_of(thread, n):
    return (thread + 1) * 10**8 + n


def work(thread):
    rng = random.Random(thread)
    n = 0
    kept = []
    try:
        while not stop.is_set():
            n += 1
            turns[thread] = n
            i = id_of(thread, n)
            line = rng.randrange(1, 400)
            probe = (released if n & 1 else held).probe_churn
            kind = rng.randrange(5)
            if kind == 0:
                source = f"def f_{i}_{line}(probe, inner):\n  for x in range(9): probe({i})\n"
            elif kind == 1:
                source = f"def f_{i}_{line}(probe, inner):\n  yield probe({i})\n"
            elif kind == 2:
                source = f"def f_{i}_{line}(probe, inner):\n  return inner(probe, None) if inner else probe({i})\n"
            elif kind == 3:
                source = (f"def f_{i}_{line}(probe, inner):\n  C()(probe, inner), probe({i})\n"
                          "class C:\n  def __call__(self, a, b): a(0)\n")
            else:
                source = f"def f_{i}_{line}(probe, inner):\n  sorted([1], key=lambda x: probe(0) and x); probe({i})\n"
            space = {}
            exec(compile("\n" * (line - 1) + source, f"churn {i}", "exec"), space)
            f = space[f"f_{i}_{line}"]
            inner = rng.choice(kept) if kept and rng.random() < 0.5 else None
            if kind == 1:
                list(f(probe, None))
            else:
                f(probe, inner)
            if kind == 2 and inner is None:
                kept.append(f)
                if len(kept) > 20:
                    kept.pop(rng.randrange(20))
            ring = [f]
            ring.append(ring)  # only the collector frees this
            del f, space, ring
    except Exception as e:
        failed.append(repr(e))
        raise


threads = [threading.Thread(target=work, args=(t,)) for t in range(8)]
for t in threads:
    t.start()
end = time.monotonic() + seconds  # how much work; nothing is judged by it
while time.monotonic() < end or (sum(turns) < 1000 and not failed):
    gc.collect()
    time.sleep(0.01)
stop.set()
for t in threads:
    t.join()
out = (ctypes.c_ulong * 5)()
released.probe_churn_result(out)
captures, frames, wrong, unknown, full = out
print(f"Python {sys.version.split()[0]}: {captures} captures of {frames} frames, {wrong} wrong names, "
      f"{unknown} without frames, {full} past the test's table", *failed)
sys.exit(1 if wrong or unknown or failed or captures < 1000 else 0)
