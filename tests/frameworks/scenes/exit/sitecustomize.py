# SPDX-License-Identifier: MIT
"""Lets PyTorch's engine thread finish before Python shuts down, for scenes/ that end right after a backward pass.

That thread releases the last graph, for which it needs the interpreter's lock. When Python 3.11 shuts down it ends the
thread that asks, and the process aborts: also untraced. What the engine thread asks for at exit, it gets here."""

import atexit
import time

atexit.register(time.sleep, 0.05)
