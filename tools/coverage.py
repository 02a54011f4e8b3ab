#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lists CUDA's memory functions: hooked, deliberately not hooked, and unknown ones.

    tools/coverage.py                writes doc/coverage.md
    tools/coverage.py --check        fails if doc/coverage.md is out of date, or a function is unknown
    tools/coverage.py --headers DIR  fails if a function in DIR's CUDA headers is unknown
    tools/coverage.py --library FILE fails if a function exported by the driver's or runtime's library FILE is unknown

A function is a memory function if its name contains one of WORDS below. The page lists the exports of the
simulated GPU (every symbol of CUDA 13.0's driver, the hooked functions of later ones, and the runtimes 12.9 and
13.0); the headers may be newer."""
import fnmatch
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HOOKS, EXCUSED = "include/vramtrace/hooks.def", "doc/coverage.excused"
PAGE = "doc/coverage.md"
LISTS = ("tests/sim/driver_symbols.def", "tests/sim/runtime_symbols.def")
HEADERS = ("cuda.h", "cudaGL.h", "cudaEGL.h", "cudaVDPAU.h", "cuda_runtime_api.h", "cuda_gl_interop.h",
           "cuda_egl_interop.h", "cuda_vdpau_interop.h")
WORDS = re.compile("Alloc|Malloc|Free|Create|Destroy|Map|Unmap|Import|Export|Open|Close|Register|Load|Release|Retain|"
                   "Reserve|Bind|Pool|Trim|Reset|Instantiate|Exit|HandleFor|Checkpoint|SetLimit|Clone|Discard|Prefetch|"
                   "Attach|AddNode|AddMem|AddChild|GraphMem|GraphLaunch|FromGreen|PrimaryCtx")
# Other functions also contain "Register" and "Release", and TensorMap contains "Map"; these are excused by name.


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def hooked():
    """{symbol: its role in hooks.def}"""
    found = {}
    for line in read(HOOKS).splitlines():
        match = re.match(r"VT_(?:DRIVER|MAKES|ENDS)\(\d+, (\w+), \w+, \d+, \w+, (\w+)", line) or \
            re.match(r"VT_(?:RUNTIME|ALLOCATES|FREES|LABEL)\(\d+, (\w+), \d+, \d+, (\w+)", line) or \
            re.match(r"VT_LABEL_AS\(\d+, \w+, (\w+), \d+, \d+, (\w+)", line)
        if match:
            found[match.group(1)] = match.group(2)
    return found


def excused():
    """[(pattern, reason)]"""
    rows = []
    for number, line in enumerate(read(EXCUSED).splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            words = line.split(None, 1)
            if len(words) != 2:
                sys.exit(f"{EXCUSED}:{number}: expected a name and a reason, found {line!r}")
            rows.append(tuple(words))
    return rows


def exported():
    names = set()
    for path in LISTS:
        names.update(re.findall(r"^SIM_\w+\((\w+)", read(path), re.M))
    return names


def declared(folder):
    """Functions in the headers of a folder, under their linker names."""
    names = set()
    for header in HEADERS:
        path = os.path.join(folder, header)
        if not os.path.isfile(path):
            continue
        with open(path, encoding="utf-8", errors="replace") as file:
            text = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
        names.update(re.findall(r"\b(?:CUresult|cudaError_t)\s+(?:CUDAAPI|CUDARTAPI)\s+(cu\w+)\s*\(", text))
        for name, mark, real in re.findall(r"#\s*define\s+cu\w+\s+((__CUDA\w*API\w*_PT[SD][SZ])?\(?(cu\w+)\)?)\s*$",
                                           text, re.M):
            names.add(real)
            if mark:
                names.add(real + ("_ptsz" if mark.endswith("PTSZ") else "_ptds"))
    return names


def of_library(path):
    """Functions that a library exports."""
    done = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True)
    return set(re.findall(r" [TWi] (cu(?:da)?[A-Z]\w+)", done.stdout))


def sort_out(names, hooks, excuses):
    """For memory functions: [(name, role or None, reason or None)], and the excuses used."""
    rows, used = [], set()
    for name in sorted(names):
        if not WORDS.search(name):
            continue
        reason = None
        if name not in hooks:
            for pattern, why in excuses:
                if fnmatch.fnmatchcase(name, pattern):
                    reason = why
                    used.add(pattern)
                    break
        rows.append((name, hooks.get(name), reason))
    return rows, used


ROLES = {"ALLOC": "allocates device memory", "FREE": "frees device memory", "HOST_ALLOC": "pins host memory",
         "HOST_FREE": "unpins host memory", "CONTEXT": "makes, ends or changes a context", "OBSERVE": "is observed",
         "LOOKUP": "finds functions", "MAP": "refers to memory counted where it was allocated",
         "GRAPH": "belongs to a graph or a capture", "IMPORT": "imports or releases memory owned elsewhere",
         "OBJECT": "holds device memory whose size no call reports"}


def page(rows, hooks):
    count = sum(role is not None for _, role, _ in rows)
    lines = ["# Coverage", "",
             "Made by `tools/coverage.py` from `include/vramtrace/hooks.def` and `doc/coverage.excused`; not to be edited.", "",
             "Every function of CUDA 13.0's driver and of the CUDA runtimes 12 and 13 with a name for allocating, freeing,",
             "mapping, importing or holding memory, and the hooked functions of later drivers. A driver call is recorded; a runtime call",
             "labels the driver call inside it. Memory that none of them allocates (the context itself, modules' variables, kernels' local",
             "memory, video codecs in the driver) shows as `untracked`.", "",
             f"{count} of these {len(rows)} are hooked ({len(hooks)} functions in all), {len(rows) - count} are not, on purpose.",
             "", "| function | hooked | effect, or the reason why not |", "| --- | --- | --- |"]
    for name, role, reason in rows:
        lines.append(f"| `{name}` | {'yes' if role else 'no' if reason else '**unknown**'} | "
                     f"{ROLES[role] if role else reason or ''} |")
    return "\n".join(lines) + "\n"


def main(words):
    hooks, excuses = hooked(), excused()
    if words[:1] in (["--headers"], ["--library"]) and len(words) == 2:
        names = declared(words[1]) if words[0] == "--headers" else of_library(words[1])
        rows, _ = sort_out(names, hooks, excuses)
        unknown = [name for name, role, reason in rows if not role and not reason]
        for name in unknown:
            print(f"{words[1]}: {name}: neither a row in {HOOKS} nor excused in {EXCUSED}")
        print(f"{words[1]}: {len(names)} functions, {len(rows)} deal in memory, {len(unknown)} unknown")
        return 1 if unknown or len(rows) < 20 else 0
    if words not in ([], ["--check"]):
        sys.exit(__doc__)
    rows, used = sort_out(exported(), hooks, excuses)
    unknown = [name for name, role, reason in rows if not role and not reason]
    idle = [pattern for pattern, why in excuses if pattern not in used and not re.match(r"(since|until) \d", why)]
    for name in unknown:
        print(f"{name}: neither a row in {HOOKS} nor excused in {EXCUSED}")
    for pattern in idle:
        print(f"{EXCUSED}: {pattern}: excuses nothing")
    text = page(rows, hooks)
    if words:
        found = read(PAGE) if os.path.exists(os.path.join(ROOT, PAGE)) else None
        if found != text:
            print(f"{PAGE} is not what tools/coverage.py makes of the lists: run it")
        return 1 if unknown or idle or found != text else 0
    with open(os.path.join(ROOT, PAGE), "w", encoding="utf-8") as file:
        file.write(text)
    return 1 if unknown or idle else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
