# SPDX-License-Identifier: MIT
"""Starts a script once for each rank, with the variables that torchrun sets, where there is no torchrun:

    launch.py RANKS SCRIPT [ARGUMENT...]        torchrun --nproc-per-node RANKS SCRIPT [ARGUMENT...]
"""

import os
import subprocess
import sys

world = int(sys.argv[1])
ranks = [
    subprocess.Popen(
        [sys.executable, *sys.argv[2:]],
        env=dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world), LOCAL_WORLD_SIZE=str(world)),
    )
    for rank in range(world)
]
sys.exit(max(rank.wait() for rank in ranks))
