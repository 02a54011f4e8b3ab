"""Keeps memory under names that may be told, beside values that may not. A secret comes from a file, so that it is no name."""
import ctypes
import os
import sys
import threading

secret = open("secret").read()
cuda = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()
if cuda.cuInit(0) or cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0):
    sys.exit(99)


class Session:
    def __init__(self, name):
        self.password = name
        self.history = [name, name.encode(), {"text": name}, 0x1122334455667788, memory()]


def memory():
    block = ctypes.c_void_p()
    if cuda.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(1 << 20)):
        sys.exit(99)
    cuda.cuMemcpyHtoD_v2(block, secret.encode(), ctypes.c_size_t(len(secret)))
    return block


sessions = {"key-of-a-dict": Session(secret), "L" * 300: [memory()], 4711: [secret, memory()]}
thread = threading.Thread(target=lambda: sessions.update(other=[memory()]))
thread.start()
thread.join()
try:
    raise ValueError(secret)
except ValueError as error:
    kept_error = error
os.environ["SET_LATE"] = secret
