# SPDX-License-Identifier: MIT
# OWNER request['scratch'] in module __main__: 64 KiB
"""A context that was copied holds the values of context variables."""

import contextvars

from simgpu import KIB, Buffer

scratch = contextvars.ContextVar("scratch")
request = contextvars.Context()
request.run(scratch.set, Buffer(64 * KIB))
