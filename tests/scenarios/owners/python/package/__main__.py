# SPDX-License-Identifier: MIT
# OWNER batch in module __main__: 64 KiB
# OWNER cache['first'] in module package.state: 32 KiB
# RUN -m package
"""python -m package."""

from simgpu import KIB, Buffer

from . import state

batch = Buffer(64 * KIB)
state.cache["first"] = Buffer(32 * KIB)
