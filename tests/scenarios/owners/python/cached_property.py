# SPDX-License-Identifier: MIT
# OWNER image.thumbnail in module __main__: 16 KiB
"""functools.cached_property."""

import functools

from simgpu import KIB, Buffer


class Image:
    @functools.cached_property
    def thumbnail(self):
        return Buffer(16 * KIB)


image = Image()
print(image.thumbnail.pointer > 0)
