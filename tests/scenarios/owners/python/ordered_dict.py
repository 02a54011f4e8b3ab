# SPDX-License-Identifier: MIT
# OWNER layers['first'] in module __main__: 64 KiB
# OWNER layers['second'] in module __main__: 128 KiB
"""An OrderedDict."""

import collections

from simgpu import KIB, Buffer

layers = collections.OrderedDict()
layers["second"] = Buffer(128 * KIB)
layers["first"] = Buffer(64 * KIB)
layers.move_to_end("second")
