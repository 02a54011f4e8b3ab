# SPDX-License-Identifier: MIT
# OWNER samples[*].image in module __main__: 2 x 64 KiB
# OWNER samples[*].label in module __main__: 2 x 4 KiB
# PYTHON 3.10
"""A dataclass with slots."""

import dataclasses

from simgpu import KIB, Buffer


@dataclasses.dataclass(slots=True)
class Sample:
    image: Buffer
    label: Buffer


samples = [Sample(Buffer(64 * KIB), Buffer(4 * KIB)) for _ in range(2)]
