"""Keeps 150 blocks in a list, or in a dict."""

import sys

import simgpu

kept = [] if sys.argv[1] == "list" else {}
for number in range(150):
    if isinstance(kept, list):
        kept.append(simgpu.Buffer(1 << 16))
    else:
        kept[number] = simgpu.Buffer(1 << 16)
    simgpu.Buffer(2 << 20)
