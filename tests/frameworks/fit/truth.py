# SPDX-License-Identifier: MIT
"""What PyTorch's own allocator does: runs programs.py on simulated cards of any size, with any setting.

    truth.py <wishes >answers        (with the simulated GPU preloaded)

Each line is a run, as JSON: {"program", "scale", "memory_bytes", "conf"}. Each answer adds "fits", "peak_reserved_bytes" (at
the end, or until the failure), "peak_bytes" (with what else the process holds, as far as the end shows it),
"peak_allocated_bytes", "allocations" (how many were granted) and "error". PyTorch is loaded once; a run is a fork of it, before CUDA and the setting are looked at."""

import json
import os
import sys

import torch

import programs


def run(wish):
    os.environ.update(VRAMTRACE_SIM_MEMORY=str(wish["memory_bytes"]), PYTORCH_CUDA_ALLOC_CONF=wish["conf"])
    error = None
    try:
        torch.manual_seed(0)
        programs.PROGRAMS[wish["program"]](wish["scale"])
    except (torch.OutOfMemoryError, RuntimeError) as fault:
        text = str(fault)
        if "out of memory" not in text and "ALLOC_FAILED" not in text:
            raise
        error = text.splitlines()[0][:300]
    free, total = torch.cuda.mem_get_info()
    stats = torch.cuda.memory_stats()
    other = total - free - stats["reserved_bytes.all.current"]
    peak = stats["reserved_bytes.all.peak"]
    return {"fits": error is None, "peak_reserved_bytes": peak, "peak_bytes": peak + other,
            "peak_allocated_bytes": stats["allocated_bytes.all.peak"], "allocations": stats["allocation.all.allocated"], "error": error}


def forked(wish):
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.write(writer, json.dumps(run(wish)).encode())
            status = 0
        finally:
            sys.stderr.flush()
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader) as answer:
        text = answer.read()
    _, status = os.waitpid(child, 0)
    if status:
        sys.exit(f"truth.py: {wish}: wait status {status}")
    return {**wish, **json.loads(text)}


def main():
    for line in sys.stdin:
        print(json.dumps(forked(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
