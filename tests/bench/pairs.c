/* SPDX-License-Identifier: MIT */
/*
 * The benchmark's program: allocates and frees, one pair after the other, at the end of a call
 * chain of a given depth, and prints the nanoseconds that a pair took.
 *
 *   pairs DEPTH STACKS PAIRS THREADS
 *
 * STACKS is the number of distinct call stacks; each pair takes one at random. They differ in which
 * of two call sites each of the outermost levels goes through. Started by tests/bench/run, with a
 * libcuda.so.1 whose allocations are malloc's (stub_cuda.c).
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../sim/cuda_abi_sim.h"

static CUresult (*alloc_memory)(CUdeviceptr *, size_t);
static CUresult (*free_memory)(CUdeviceptr);
static int depth;
static uint32_t stacks;
static long pairs;
static pthread_barrier_t start;

static void die(const char *what) {
    fprintf(stderr, "pairs: %s\n", what);
    exit(1);
}

static __attribute__((noinline)) void pair(void) {
    CUdeviceptr address = 0;

    if (alloc_memory(&address, 64) != CUDA_SUCCESS)
        die("an allocation failed");
    if (free_memory(address) != CUDA_SUCCESS)
        die("a free failed");
}

/* One frame a level. The empty asm keeps the compiler from turning the calls into jumps, and the
 * two call sites from becoming one. */
static __attribute__((noinline)) void descend(int levels, uint32_t path) {
    if (levels == 0) {
        pair();
    } else if (path & 1) {
        descend(levels - 1, path >> 1);
        __asm__ volatile("" ::: "memory");
    } else {
        descend(levels - 1, path >> 1);
        __asm__ volatile("nop" ::: "memory");
    }
    __asm__ volatile("" ::: "memory");
}

static uint32_t next_random(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static uint64_t now_ns(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *work(void *elapsed) {
    uint32_t state = 2463534242u;

    /* Every stack once beforehand: what a new stack costs is not what is asked here. */
    for (uint32_t path = 0; path < stacks; path++)
        descend(depth, path);
    pthread_barrier_wait(&start);
    uint64_t begin = now_ns();
    for (long i = 0; i < pairs; i++)
        descend(depth, next_random(&state) % stacks);
    *(uint64_t *)elapsed = now_ns() - begin;
    return NULL;
}

static void *symbol(void *library, const char *name) {
    void *found = dlsym(library, name);

    if (!found)
        die(dlerror());
    return found;
}

int main(int argc, char **argv) {
    enum { MOST_THREADS = 64 };
    uint64_t elapsed[MOST_THREADS];
    pthread_t threads[MOST_THREADS];
    CUcontext context;

    if (argc != 5)
        die("usage: pairs DEPTH STACKS PAIRS THREADS");
    depth = atoi(argv[1]);
    stacks = (uint32_t)atoi(argv[2]);
    pairs = atol(argv[3]);
    int count = atoi(argv[4]);
    if (depth < 1 || stacks < 1 || pairs < 1 || count < 1 || count > MOST_THREADS)
        die("DEPTH, STACKS, PAIRS and THREADS are positive; at most 64 threads");

    void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
    if (!cuda)
        die(dlerror());
    *(void **)&alloc_memory = symbol(cuda, "cuMemAlloc_v2");
    *(void **)&free_memory = symbol(cuda, "cuMemFree_v2");
    CUresult (*init)(unsigned int);
    CUresult (*create)(CUcontext *, unsigned int, CUdevice);
    *(void **)&init = symbol(cuda, "cuInit");
    *(void **)&create = symbol(cuda, "cuCtxCreate_v2");
    if (init(0) != CUDA_SUCCESS || create(&context, 0, 0) != CUDA_SUCCESS)
        die("no context");

    pthread_barrier_init(&start, NULL, (unsigned)count);
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, work, &elapsed[i]) != 0)
            die("no thread");
    uint64_t slowest = 0;
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        slowest = elapsed[i] > slowest ? elapsed[i] : slowest;
    }
    printf("%.1f\n", (double)slowest / (double)pairs);
    return 0;
}
