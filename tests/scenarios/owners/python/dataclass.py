# SPDX-License-Identifier: MIT
# OWNER sample.image in module __main__: 64 KiB
# OWNER sample.mask in module __main__: 16 KiB
"""A dataclass."""

import dataclasses

from simgpu import KIB, Buffer


@dataclasses.dataclass
class Sample:
    image: Buffer
    mask: Buffer = None
    more: list = dataclasses.field(default_factory=list)


sample = Sample(Buffer(64 * KIB), Buffer(16 * KIB))
