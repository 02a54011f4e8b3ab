# SPDX-License-Identifier: MIT
# OWNER results[*] in module __main__: 3 x 32 KiB
# RUN -c
"""What is typed after python -c."""

from simgpu import KIB, Buffer

results = [Buffer(32 * KIB) for _ in range(3)]
