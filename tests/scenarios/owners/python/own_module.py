# SPDX-License-Identifier: MIT
# OWNER kept[*] in module feature_store: 2 x 64 KiB
# OWNER sizes['last'] in module feature_store: 8 KiB
"""A module of one's own."""

import feature_store
from simgpu import KIB

feature_store.add(64 * KIB)
feature_store.add(64 * KIB)
feature_store.remember(8 * KIB)
