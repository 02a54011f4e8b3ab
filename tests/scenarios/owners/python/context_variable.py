# SPDX-License-Identifier: MIT
# MAYBE scratch in module __main__: 64 KiB
# LAST an object of class simgpu.Buffer
"""The value of a context variable."""

import contextvars

from simgpu import KIB, Buffer

scratch = contextvars.ContextVar("scratch")
scratch.set(Buffer(64 * KIB))
