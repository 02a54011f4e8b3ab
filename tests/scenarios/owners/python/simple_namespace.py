# SPDX-License-Identifier: MIT
# OWNER config.weights in module __main__: 64 KiB
# OWNER config.deep.bias in module __main__: 4 KiB
"""types.SimpleNamespace."""

import types

from simgpu import KIB, Buffer

config = types.SimpleNamespace(weights=Buffer(64 * KIB))
config.deep = types.SimpleNamespace(bias=Buffer(4 * KIB))
