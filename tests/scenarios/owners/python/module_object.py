# SPDX-License-Identifier: MIT
# OWNER plugin.kept[*] in module __main__: 2 x 64 KiB
"""A module that is not in sys.modules."""

import types

from simgpu import KIB, Buffer

plugin = types.ModuleType("plugin")
plugin.kept = [Buffer(64 * KIB), Buffer(64 * KIB)]
