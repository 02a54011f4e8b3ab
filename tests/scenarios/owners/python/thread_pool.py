# SPDX-License-Identifier: MIT
# OWNER futures[*]._result in module __main__: 3 x 64 KiB
"""Results of a pool of threads."""

import concurrent.futures

from simgpu import KIB, Buffer

with concurrent.futures.ThreadPoolExecutor(2) as pool:
    futures = [pool.submit(Buffer, 64 * KIB) for _ in range(3)]
