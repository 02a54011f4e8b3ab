# SPDX-License-Identifier: MIT
# OWNER mine in module __main__: 64 KiB
"""The script's own name stands before a module's."""

import feature_store
from simgpu import KIB

mine = feature_store.add(64 * KIB)
