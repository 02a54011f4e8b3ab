# SPDX-License-Identifier: MIT
"""Keeps what its steps allocate, and asks for the report of itself: first too early, then in each format, then for what cannot be."""

import fcntl
import json
import os
import sys
import types

import vramtrace

locked = open("locked", "w", encoding="utf-8")
fcntl.lockf(locked, fcntl.LOCK_EX)
early = vramtrace.report()
print("early:", bool(early), early)
if not vramtrace.active():
    sys.exit()
import gpu  # noqa: E402: its first CUDA call

history = []


@vramtrace.phase("step")
def step():
    history.append(gpu.allocate(1 << 20))  # LEAK
    gpu.free(gpu.allocate(4096))


for _ in range(40):
    step()
said = {"text": str(vramtrace.report(top=1)), "by owner": str(vramtrace.report(by="owner", snapshot=False)),
        "markdown": vramtrace.report("markdown")._repr_markdown_(), "json": str(vramtrace.report("json")), "repr": repr(vramtrace.report())}
page = vramtrace.report("html")
page.save("page.html")
said["shown"] = page._repr_html_()
said["text shown"] = vramtrace.report()._repr_html_()  # no notebook: no page
for name, options in (("bad format", {"format": "nope"}), ("bad time", {"since": "epoch#3"}), ("bad option", {"no_such": True})):
    try:
        vramtrace.report(**options)
    except ValueError as fault:
        said[name] = str(fault)
said["own"] = str(vramtrace.report("json", own=["train.py", "gpu.py"], native=True))

# A child has a log of its own, although it inherited its parent's.
child = os.fork()
if child == 0:
    try:
        gpu.allocate(1 << 20)  # whether the driver gives it or not
    except RuntimeError:
        pass
    with open("locked", "r+", encoding="utf-8") as file:  # it does not inherit the lock
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            print("the parent's lock is gone")
            sys.stdout.flush()
        except OSError:
            pass
    with open("child", "w", encoding="utf-8") as file:
        file.write(str(json.loads(str(vramtrace.report("json")))["processes"][0]["pid"] == os.getpid()))
    os._exit(0)
os.waitpid(child, 0)

# In a notebook; a cell is code of such a file.
exec(compile("for _ in range(40):\n    history.append(gpu.allocate(1 << 20))", "/tmp/ipykernel_1/123.py", "exec"))
shell = types.SimpleNamespace(kernel=True, compile=types.SimpleNamespace(_filename_map={"/tmp/ipykernel_1/123.py": 7}))
sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: shell)
said["html in a notebook"] = vramtrace.report("html")._repr_html_()
said["both in a notebook"] = vramtrace.report()._repr_html_()
with open("said.json", "w", encoding="utf-8") as file:
    json.dump(said, file)
