# SPDX-License-Identifier: MIT
"""Backward passes on the stand-in engine. The test finds each block by its size; a forked child has no driver, so it
takes what the allocator kept."""

import os
import sys
import threading

from engine import ADDMM, CALLER, FAIL, MUL, PYTHON, Loss, unseen

MIB = 1 << 20
if os.environ.get("FIRST"):  # the log is open before the first pass
    import standin
    first = standin.Tensor(64 * MIB)


def simple():
    Loss((ADDMM, 0, 2 * MIB)).backward()  # simple


def old():
    Loss((ADDMM, 1, 4 * MIB), version=1).backward()  # old


def itself():
    Loss((ADDMM, CALLER, 5 * MIB), (ADDMM, 0, 6 * MIB)).backward()  # itself


def left():
    Loss((PYTHON, CALLER, both.wait), (ADDMM, 0, 7 * MIB), (PYTHON, CALLER, both.wait), (MUL, 0, 8 * MIB),
         (PYTHON, CALLER, both.wait)).backward()  # left


def right():
    Loss((PYTHON, CALLER, both.wait), (ADDMM, 0, 9 * MIB), (PYTHON, CALLER, both.wait), (MUL, 0, 32 * MIB),
         (PYTHON, CALLER, both.wait)).backward()  # right


def failing():
    try:
        Loss((ADDMM, 0, 18 * MIB), (FAIL, 0, 0)).backward()  # failing
    except RuntimeError:
        unseen((MUL, 2, 20 * MIB))


def checkpoint():
    Loss((ADDMM, 0, 22 * MIB), (MUL, 2, 24 * MIB)).backward()  # checkpoint


def nested():
    Loss((PYTHON, 1, checkpoint), (ADDMM, 1, 26 * MIB)).backward()  # nested


def forked():
    child = os.fork()
    if child == 0:
        Loss((ADDMM, CALLER, 5 * MIB)).backward()  # in the child
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def forks():
    Loss((PYTHON, CALLER, forked), (ADDMM, 0, 30 * MIB)).backward()  # forks


both = threading.Barrier(2)
simple()
old()
itself()
threads = [threading.Thread(target=left), threading.Thread(target=right)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
failing()
nested()
forks()
sys.stdout.flush()
os._exit(0)  # the engine's threads still run
