# SPDX-License-Identifier: MIT
# OWNER tensor|tensor._data in module __main__: 64 KiB
"""An attribute behind a property."""

from simgpu import KIB, Buffer


class Tensor:
    def __init__(self, size):
        self._data = None
        self.size = size

    @property
    def data(self):
        if self._data is None:
            self._data = Buffer(self.size)
        return self._data


tensor = Tensor(64 * KIB)
print(tensor.data.pointer > 0)
