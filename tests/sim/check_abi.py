#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares include/vramtrace/cuda_abi*.h and cuda_abi_sim.h, our own declarations of CUDA's types, with real CUDA headers.

    tests/sim/check_abi.py INCLUDE [FALLBACK-INCLUDE]     a folder with cuda.h and cuda_runtime_api.h

Every constant's value, every type's size and every field's offset that our headers declare is printed by one C
program built twice: with our declarations, and with -DVT_USE_CUDA_HEADERS. The two outputs must be the same.
A name that the real headers do not have (they may be older or newer) is left out and counted. Exit status: 0 the
same, 1 different, 2 usage or nothing to compare.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

SRC = pathlib.Path(__file__).resolve().parent.parent.parent
PARTS = ("include/vramtrace/cuda_abi_enums.h", "include/vramtrace/cuda_abi_driver.h",
         "include/vramtrace/cuda_abi_runtime.h", "tests/sim/cuda_abi_errors.h", "tests/sim/cuda_abi_params.h",
         "tests/sim/cuda_abi_sim.h")
# CUDA 13 appended fields to these; who reads them reads the front part only.
GREW_IN_13 = {"sizeof(CUdevSmResource)", "sizeof(struct cudaExternalMemoryHandleDesc)",
              "sizeof(struct cudaExternalMemoryBufferDesc)", "sizeof(struct cudaExternalMemoryMipmappedArrayDesc)"}
# Deliberately different: CUDA's own "how many are there", which grows with each version.
COUNTERS = re.compile(r"_MAX$|Max$|_COUNT$|Count$|NUM_OPTIONS$")


def declarations():
    """Returns (constants, types, fields): names as C spells them; fields as (type, field)."""
    text = "".join((SRC / part).read_text() for part in PARTS)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    constants = re.findall(r"^#define ((?:CU|cuda)\w+) (?:0x)?\d+$", text, flags=re.M)
    for body in re.findall(r"enum \w* ?\{([^}]*)\}", text):
        constants += re.findall(r"(\w+)(?: = [^,]+)?(?:,|$|\s*$)", body.strip())
    types, fields = [], []
    for match in re.finditer(r"^(typedef )?(struct|union) (\w+) \{\n(.*?)^\}(?: (\w+))?;", text, flags=re.M | re.S):
        typedef, kind, tag, body, name = match.groups()
        c_type = name if typedef else f"{kind} {tag}"
        types.append(c_type)
        # Fields of the outermost level: four columns in.
        for line in re.findall(r"^    (?! |\})(?!struct \{|union \{)(.*);$", body, flags=re.M):
            for field in line.split(","):
                fields.append((c_type, re.search(r"(\w+)(?:\[\w+\])*$", field.strip()).group(1)))
        for field in re.findall(r"^    \} (\w+);$", body, flags=re.M):
            fields.append((c_type, field))
    types += re.findall(r"^typedef [^({]*?(\w+);$", text, flags=re.M)
    return constants, types, fields


def probe(entries, real):
    flags = [f"-I{SRC}", f"-I{SRC / 'include'}", "-std=gnu17", "-w"]
    if real:
        flags += ["-DVT_USE_CUDA_HEADERS", "-isystem", real[0]] + [f for d in real[1:] for f in ("-idirafter", d)]
    lines = [f'    printf("%s %lld\\n", "{label}", (long long)({expression}));' for label, expression in entries]
    program = "#include <stddef.h>\n#include <stdio.h>\n#include \"tests/sim/cuda_abi_sim.h\"\nint main(void)\n{\n"
    return program + "\n".join(lines) + "\n    return 0;\n}\n", flags


def run(entries, real, folder):
    """The program's output as {label: value}; also returns entries that do not compile, which are dropped."""
    compiler = os.environ.get("CC", "gcc").split()
    dropped = []
    while True:
        program, flags = probe(entries, real)
        source = folder / "probe.c"
        source.write_text(program)
        built = subprocess.run([*compiler, *flags, "-fmax-errors=0" if "gcc" in compiler[0] else "-ferror-limit=0",
                                str(source), "-o", str(folder / "probe")], stderr=subprocess.PIPE, text=True)
        if built.returncode == 0:
            break
        errors = re.findall(r"probe\.c:(\d+):\d+: error: (.*)", built.stderr)
        bad = {int(line) - 6 for line, _ in errors}
        # Ours may only be incomplete where a type is only ever pointed at.
        if not bad or (not real and not all("incomplete type" in text for _, text in errors)):
            sys.exit(f"check_abi: does not compile:\n{built.stderr}")
        dropped += [e[0] for i, e in enumerate(entries) if i in bad]
        entries = [e for i, e in enumerate(entries) if i not in bad]
    output = subprocess.run([str(folder / "probe")], stdout=subprocess.PIPE, text=True, check=True).stdout
    return dict(line.rsplit(" ", 1) for line in output.splitlines()), dropped


def main():
    real = sys.argv[1:]
    if not real or not (pathlib.Path(real[0]) / "cuda.h").exists():
        print(__doc__)
        return 2
    constants, types, fields = declarations()
    entries = [(c, c) for c in constants if not COUNTERS.search(c)]
    entries += [(f"sizeof({t})", f"sizeof({t})") for t in types]
    entries += [(f"offsetof({t}, {f})", f"offsetof({t}, {f})") for t, f in fields]
    entries += [(f"sizeof({t}.{f})", f"sizeof((({t} *)0)->{f})") for t, f in fields]
    with tempfile.TemporaryDirectory() as folder:
        ours, incomplete = run(entries, None, pathlib.Path(folder))
        theirs, dropped = run([e for e in entries if e[0] not in incomplete], real, pathlib.Path(folder))
    version = re.search(r"^#define CUDA_VERSION (\d+)", (pathlib.Path(real[0]) / "cuda.h").read_text("latin-1"), re.M)
    grown = GREW_IN_13 if int(version.group(1)) < 13000 else set()
    different = [(k, ours[k], theirs[k]) for k in theirs if ours[k] != theirs[k] and k not in grown]
    for label, mine, its in different:
        print(f"{label}: expected {its} (the CUDA headers), found {mine} (cuda_abi.h)")
    print(f"{len(theirs)} facts compared, {len(different)} different, {len(dropped)} not in these headers")
    if dropped:
        print("  not there: " + ", ".join(dropped[:12]) + (", …" if len(dropped) > 12 else ""))
    if not theirs:
        return 2
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
