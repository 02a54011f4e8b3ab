/* SPDX-License-Identifier: MIT */
/*
 * A program that runs for as long as it is told: reads numbers from its input, makes so many steps for each, and prints "done".
 * A step is a phase with 1,000 alloc/free pairs through 64 call sites, 2,000 events; each hundredth keeps a block for good. For
 * tests/bench/weeks, with the driver of stub_cuda.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../sim/cuda_abi_sim.h"
#include "vramtrace.h"

enum { PAIRS = 1000, SITES = 64, KEEPS_EACH = 100 };

CUresult cuInit(unsigned int flags);
CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);
CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes);
CUresult cuMemFree_v2(CUdeviceptr address);

static CUdeviceptr *kept; /* reachable: a cache that is never emptied */
static long kept_count;

static CUdeviceptr take(size_t bytes) {
    CUdeviceptr address;
    if (cuMemAlloc_v2(&address, bytes) != CUDA_SUCCESS) {
        fprintf(stderr, "steps: an allocation of %zu bytes failed\n", bytes);
        exit(1);
    }
    return address;
}

/* A call site for each path: a bit of it at each level. */
static __attribute__((noinline)) void pair(unsigned path, unsigned levels) {
    if (!levels) {
        cuMemFree_v2(take(64 + 16 * (path % 7)));
    } else if (path & 1) {
        pair(path >> 1, levels - 1);
        __asm__ volatile("" ::: "memory");
    } else {
        pair(path >> 1, levels - 1);
        __asm__ volatile("nop" ::: "memory");
    }
}

static __attribute__((noinline)) void keep(void) {
    kept = realloc(kept, sizeof *kept * (size_t)(kept_count + 1));
    if (!kept)
        exit(1);
    kept[kept_count++] = take(4096);
}

int main(void) {
    CUcontext context;
    long steps, done = 0;
    if (cuInit(0) != CUDA_SUCCESS || cuCtxCreate_v2(&context, 0, 0) != CUDA_SUCCESS)
        return 1;
    while (scanf("%ld", &steps) == 1) {
        for (; steps > 0; steps--) {
            vramtrace_push("step");
            for (unsigned i = 0; i < PAIRS; i++)
                pair(i % SITES, 6);
            if (++done % KEEPS_EACH == 0)
                keep();
            vramtrace_pop();
        }
        puts("done");
        fflush(stdout);
    }
    return 0;
}
