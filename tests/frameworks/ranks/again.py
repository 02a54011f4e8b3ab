# SPDX-License-Identifier: MIT
"""Ranks of torchrun --max-restarts=1: memory is refused to rank 1 when it runs for the first time, and all are started anew.

They wait for each other by files in the folder that is named, and not by torch.distributed: gloo may look for what died."""

import os
import pathlib
import signal
import sys
import time

RANK, FIRST = int(os.environ["RANK"]), os.environ["TORCHELASTIC_RESTART_COUNT"] == "0"
if FIRST and RANK == 1:
    os.environ["VRAMTRACE_INJECT"] = "2+"  # read at the first call of CUDA

import torch

kept = torch.empty(8 << 20, device="cuda")
folder = pathlib.Path(sys.argv[1])
(folder / f"ready.{RANK}").touch()
while len(list(folder.glob("ready.*"))) < int(os.environ["WORLD_SIZE"]):
    time.sleep(0.01)
if FIRST and RANK != 1:
    signal.pause()  # torchrun ends it
more = torch.empty(64 << 20, device="cuda")
