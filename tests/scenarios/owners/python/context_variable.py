# SPDX-License-Identifier: MIT
# OWNER context variables['scratch'] in interpreter: 64 KiB
"""The value of a context variable."""

import contextvars

from simgpu import KIB, Buffer

scratch = contextvars.ContextVar("scratch")
scratch.set(Buffer(64 * KIB))
