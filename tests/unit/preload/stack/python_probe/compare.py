# SPDX-License-Identifier: MIT
"""What the probe saw against what Python says, frame by frame. The probe's path is the first argument."""
import ctypes
import os
import sys
import threading
import traceback

PATH = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.environ["PROBE"])
Buffer = ctypes.c_char * (1 << 17)
released, held = ctypes.CDLL(PATH), ctypes.PyDLL(PATH)
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int)
QUALIFIED = sys.version_info >= (3, 11)
checks, bad = 0, []
kinds = []
lock = threading.Lock()
for lib in (released, held):
    lib.probe_why.restype = ctypes.c_char_p
    lib.probe_cost.restype = ctypes.c_double
    for name in ("probe", "probe_merged"):
        getattr(lib, name).argtypes = [ctypes.c_char_p, ctypes.c_size_t] + [ctypes.c_int] * (2 * (name != "probe"))


def utf8(text):
    """Text as the probe gives it: cut, lone surrogates replaced."""
    return "".join("\ufffd" if 0xD800 <= ord(c) < 0xE000 else c for c in text)


def snapshot(frame):
    """What Python says: (function, file, line), innermost first."""
    out = []
    plain = []
    while frame is not None:
        code = frame.f_code
        out.append((utf8(code.co_qualname if QUALIFIED else code.co_name), utf8(code.co_filename), frame.f_lineno or 0))
        plain.append((code.co_name, code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return out, plain


def parse(text):
    out = []
    for line in text.decode("utf-8").split("\n")[:-1]:
        function, file, number = line.split("\t")
        out.append((function, file, int(number)))
    return out


def compare(kind, seen, expected):
    global checks
    with lock:
        checks += 1
        if seen != expected:
            bad.append(kind)
            print(f"DIFFERS {kind}")
            if not isinstance(seen, list):
                seen, expected = [seen], [expected]
            for i in range(max(len(seen), len(expected))):
                a = seen[i] if i < len(seen) else None
                b = expected[i] if i < len(expected) else None
                if a != b:
                    print(f"   {i}: seen {a!r}, expected {b!r}")
                    break


def hit(kind):
    """Captures with the GIL released and held, from here outwards."""
    buf = Buffer()
    for lib in (released, held):
        n, (expected, plain) = lib.probe(buf, len(buf)), snapshot(sys._getframe())
        seen = parse(buf.value)
        assert n == len(seen), (kind, n, len(seen))
        compare(kind, seen, expected)
    # traceback.extract_stack() is what the user would have seen.
    if "\ud800" not in kind:
        stack = traceback.extract_stack()
        n = held.probe(buf, len(buf))
        seen = [(utf8(name).rpartition(".")[2] if QUALIFIED else name, file, line) for name, file, line in parse(buf.value)]
        shown = [(utf8(s.name), utf8(s.filename), s.lineno or 0) for s in reversed(stack)]
        compare(kind + ", traceback", [s for s in seen[1:]], [s for s in shown[1:]])
    kinds.append(kind)
    return kind


def read_merged(lib, depth=1000, with_sp=1):
    buf = Buffer()
    n, (expected, _) = lib.probe_merged(buf, len(buf), depth, with_sp), snapshot(sys._getframe())
    order, *lines = buf.value.decode().split("\n")[:-1]
    python = [tuple(line[2:].split("\t")) for line in lines if line[0] == "P"]
    compare("merged: the Python frames", [(a, b, int(c)) for a, b, c in python], expected)
    return order, lines
