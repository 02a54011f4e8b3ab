# SPDX-License-Identifier: MIT
"""Blocks of two streams, a CUDA graph and a MemPool. Writes the allocator's own snapshot into the file that is named."""

import json
import random
import sys

import torch


def take(rng, count):
    return [torch.empty(rng.choice((rng.randrange(1, 1 << 20), rng.randrange(1 << 20, 40 << 20))), dtype=torch.uint8, device="cuda")
            for _ in range(count)]


def main():
    rng = random.Random(1)
    side, pool, graph = torch.cuda.Stream(), torch.cuda.MemPool(), torch.cuda.CUDAGraph()
    kept = [torch.zeros(8, device="cuda")]
    for _ in range(4):
        kept += take(rng, 20)
        with torch.cuda.stream(side):
            kept += take(rng, 10)
        with torch.cuda.use_mem_pool(pool):
            kept += take(rng, 6)
        rng.shuffle(kept)
        del kept[len(kept) // 2:]
    with torch.cuda.graph(graph):
        kept += take(rng, 8)
        kept[0] + 1
    torch.cuda.empty_cache()
    kept += take(rng, 20)
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump([[segment["address"], segment["total_size"], segment["stream"], segment["segment_pool_id"],
                    [[block["address"], block["size"], block["requested_size"]] for block in segment["blocks"]
                     if block["state"] == "active_allocated"]] for segment in torch.cuda.memory_snapshot()], file)


main()
