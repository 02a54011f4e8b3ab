# SPDX-License-Identifier: MIT
"""ends.py PROBE return|exit|_exit|raise: the interpreter ends while daemon threads go on capturing, with the GIL and
without, in a long way of ending: an atexit handler, destructors of module globals, threads inside C calls."""
import atexit
import ctypes
import os
import sys
import threading
import time

path, how = os.path.abspath(sys.argv[1]), sys.argv[2]
released, held = ctypes.CDLL(path), ctypes.PyDLL(path)
room = 1 << 16
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int)


def daemon(lib):
    buf = ctypes.create_string_buffer(room)

    def nested(n):
        return nested(n - 1) if n else lib.probe(buf, room)

    callback = CALLBACK(lambda: nested(3))
    while True:
        nested(10)
        lib.probe_call(callback)
        lib.probe_cost(50)


class Dropped:
    def __init__(self):
        self.probe, self.buf = held.probe, ctypes.create_string_buffer(room)

    def __del__(self):
        # During finalization no Python frames are given; it must still answer.
        self.probe(self.buf, room)


dropped = Dropped()
sys.dropped_at_the_very_end = Dropped()
for i in range(4):
    threading.Thread(target=daemon, args=((released, held)[i & 1],), daemon=True).start()


@atexit.register
def last():
    buf = ctypes.create_string_buffer(room)
    n = held.probe(buf, room)
    if not (n == 1 and buf.value.startswith(b"last\t")):
        os.write(2, b"atexit saw " + buf.value)
        os._exit(9)
    time.sleep(0.002)  # its work


time.sleep(0.02)  # the work of all of them
if how == "exit":
    sys.exit(0)
if how == "_exit":
    os._exit(0)
if how == "raise":
    sys.stderr = None
    raise RuntimeError
