# SPDX-License-Identifier: MIT
"""Allocates from functions whose names, files and holders are hostile to a page, a terminal and a parser."""

import os
import sys

import numpy as np
from numba import cuda

MARKUP = "<script>window.broken=1;alert(1)</script><img src=x onerror='window.broken=1;alert(2)'>"
NAMES = (MARKUP, "</script><script>window.broken=1</script>", "\"'`&amp;{{x}}${x}", "new\nline\r\ttab", "\x1b[31mred\x1b]0;title\x07",
         "x" * 10000, "\u202egnp.exe \u0000", "<!--", "]]>", "\udcff\udcfe")


def call(name, depth):
    """A function of that name, in a file of that name, that allocates."""
    source = "def f(depth, after):\n    kept = cuda.device_array(250000, np.float32)\n    return [kept] + (after(depth) if depth else [])\n"
    path = f"/{name[:4000]}/{name[:200]}.py".replace("\0", "0")
    space = {"cuda": cuda, "np": np}
    exec(compile(source, path, "exec"), space)
    code, names = space["f"].__code__, {"co_name": name.replace("\0", "0")}
    if hasattr(code, "co_qualname"):
        names["co_qualname"] = names["co_name"]
    space["f"].__code__ = code.replace(**names)
    return space["f"](depth, lambda rest: call(NAMES[rest % len(NAMES)], rest - 1))


held = {}
for number, name in enumerate(NAMES):
    held[name.replace("\udcff", "?").replace("\udcfe", "?")] = call(name, number)
globals()[MARKUP] = [cuda.device_array(500000, np.float32)]
print(len(held), os.getpid(), file=sys.stderr)
