# SPDX-License-Identifier: MIT
# OWNER view.model in module __main__: 64 KiB
"""A weak reference that comes first in the alphabet, and a strong one."""

import weakref

from simgpu import KIB, Buffer


class View:
    pass


view = View()
view.model = Buffer(64 * KIB)
a_model = weakref.ref(view.model)
a_proxy = weakref.proxy(view.model)
a_set = weakref.WeakSet([view.model])
