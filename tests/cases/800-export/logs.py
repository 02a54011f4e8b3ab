# SPDX-License-Identifier: MIT
"""Logs for the tests of exports, and what the JSON report says of them."""

import os
import pathlib
import sys

import lib

sys.path.insert(0, f"{lib.SRC}/tests/frameworks")
import fwlog

VALUES = ("live", "peak", "allocated", "leaked")
LONG = "n" * 10000
NAMES = ["=cmd|'/c calc'!A1", "<script>alert(1)</script>", "a;b;c", "line\nbreak\r", "quo\"te'`\\",
         "not \udcff utf-8 \x1b[2J \x9b \u202eturned", LONG[:600]]

# Frames with such functions and files, one inside the other; the innermost allocates and keeps it.
HOSTILE = f"""
import ctypes
cuda, long = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("./liblong.so")
context, kept = ctypes.c_void_p(), []
assert not cuda.cuInit(0) and not cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0)
def allocate(size):
    block = ctypes.c_void_p()
    assert not long.{LONG}(ctypes.byref(block), ctypes.c_size_t(size))
    kept.append(block)
call = allocate
for name in {NAMES!r}:
    scope = {{"inner": call}}
    exec(compile("def f(size):\\n    inner(size)", name, "exec"), scope)
    scope["f"].__code__ = scope["f"].__code__.replace(co_name=name, **({{"co_qualname": name}} if hasattr(scope["f"].__code__, "co_qualname") else {{}}))
    call = scope["f"]
for size in (4096, 8192):
    call(size)
host = ctypes.c_void_p()
assert not cuda.cuMemAllocHost_v2(ctypes.byref(host), ctypes.c_size_t(12345))
"""


def hostile(log="hostile.vtl"):
    pathlib.Path("long.c").write_text(f"extern int cuMemAlloc_v2(void **, long);\n"
                                      f"int {LONG}(void **p, long n) {{ return cuMemAlloc_v2(p, n) ? 1 : 0; }}\n")
    lib.run([os.environ.get("CC", "gcc"), "-g", "-fPIC", "-shared", "long.c", "-o", "liblong.so"])
    lib.traced([lib.PYTHON, "-c", HOSTILE], log=log)
    return log


def blocks(log="blocks.vtl"):
    """Two devices under a caching allocator that reports as PyTorch's does."""
    fwlog.build()
    fwlog.traced(f"{lib.SRC}/tests/cases/500-torch-blocks/loop.py", log=log, VRAMTRACE_SIM_DEVICES=2)
    return log


def ended(log="ended.vtl", **environment):
    """A program that leaks 7.5 MiB (CLEAN=1: nothing), and of which next to nothing is left at the end (end.py)."""
    fwlog.build()
    folders = [f"{lib.SRC}/tests/{folder}" for folder in ("frameworks", "frameworks/site-packages", "scenarios/site-packages")]
    lib.traced([lib.PYTHON, f"{lib.SRC}/tests/cases/800-export/end.py"], log=log, PYTHONPATH=":".join(folders), STANDIN=fwlog.STANDIN,
               **environment)
    return log


# A process that uses one GPU, and only asks about another one.
ASKED_ONLY = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
context, p, name = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.create_string_buffer(64)
assert not cuda.cuInit(0) and not cuda.cuDeviceGetName(name, 64, 1) and not cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0)
assert not cuda.cuMemAlloc_v2(ctypes.byref(p), ctypes.c_size_t(4096))
"""


def asked_only(log="asked.vtl"):
    lib.traced([lib.PYTHON, "-c", ASKED_ONLY], log=log, VRAMTRACE_SIM_DEVICES=2)
    return log


def export(kind, *logs, value=None, options=(), status=0):
    """The path of the file written."""
    path = f"{os.path.basename(logs[0])}.{value}.{kind}"
    lib.run([lib.VRAMTRACE, "export", "--format", kind, "-o", path, *(("--value", value) if value else ()), *options, *logs],
            status=status)
    return path


def expected(found):
    """The sum of each value over a report: all device memory, and the memory of no device."""
    sums = dict.fromkeys(VALUES, 0)
    for process in found["processes"]:
        leaks = {site for leak in process["leaks"] for site in leak["sites"]}
        for device in process["devices"]:
            sums["live"] += device["live_bytes"]
            sums["peak"] += device["peak_bytes"]
        for site in process["sites"]:
            if site["layer"] in ("host", "managed"):
                sums["live"] += site["live_bytes"]
                sums["peak"] += site["bytes_at_peak"]
            if not site["segments"]:
                sums["allocated"] += site["allocated_bytes"]
            if site["site"] in leaks:
                sums["leaked"] += max(site["live_bytes"], site.get("held_bytes") or 0)
    return sums
