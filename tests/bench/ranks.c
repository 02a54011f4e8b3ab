/* SPDX-License-Identifier: MIT */
/*
 * A rank of a job, for tests/bench/ranks: allocates and frees at 50 lines in several threads, round after
 * round, as a training does. RANK is in its sizes, so that no two ranks are equal; rank 7 of each 100 keeps
 * what one line allocates.
 *
 *   ranks EVENTS THREADS
 *
 * Its libcuda.so.1 is stub_cuda.c.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../sim/cuda_abi_sim.h"

enum { LINES = 50, OUTLIER = 7 };

static CUresult (*alloc_memory)(CUdeviceptr *, size_t);
static CUresult (*free_memory)(CUdeviceptr);
static long rounds;
static unsigned long rank;

static void die(const char *what) {
    fprintf(stderr, "ranks: %s\n", what);
    exit(1);
}

/* A function a line: the address that was allocated there. */
#define LINE(number)                                                                               \
    static __attribute__((noinline)) CUdeviceptr line_##number(size_t bytes) {                     \
        CUdeviceptr address = 0;                                                                   \
        if (alloc_memory(&address, bytes) != CUDA_SUCCESS)                                         \
            die("an allocation failed");                                                           \
        return address;                                                                            \
    }
#define TEN(f, n) f(n##0) f(n##1) f(n##2) f(n##3) f(n##4) f(n##5) f(n##6) f(n##7) f(n##8) f(n##9)
#define ALL(f)    TEN(f, 1) TEN(f, 2) TEN(f, 3) TEN(f, 4) TEN(f, 5)
ALL(LINE)

#define NAME(number) line_##number,
static CUdeviceptr (*const lines[LINES])(size_t) = {ALL(NAME)};

static void *work(void *unused) {
    CUdeviceptr live[LINES] = {0};
    for (long round = 0; round < rounds; round++)
        for (unsigned i = 0; i < LINES; i++) {
            unsigned slot = (i * 7 + (unsigned)round) % LINES;
            if (live[slot] && free_memory(live[slot]) != CUDA_SUCCESS)
                die("a free failed");
            live[slot] = lines[slot]((slot + 1) * 64 + rank % 13 * 8);
            if (rank % 100 == OUTLIER && slot == 3 && round % 16 == 0)
                live[slot] = 0; /* kept for ever */
        }
    for (unsigned i = 0; i < LINES; i++)
        if (live[i])
            free_memory(live[i]);
    return unused;
}

int main(int argc, char **argv) {
    enum { MOST_THREADS = 64 };
    pthread_t threads[MOST_THREADS];
    int count = argc == 3 ? atoi(argv[2]) : 0;
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    CUresult (*create)(CUcontext *, unsigned int, CUdevice);
    CUcontext context;

    if (count < 1 || count > MOST_THREADS)
        die("usage: ranks EVENTS THREADS");
    if (!cuda)
        die(dlerror());
    rank = getenv("RANK") ? strtoul(getenv("RANK"), NULL, 10) : 0;
    rounds = atol(argv[1]) / (2 * LINES * count);
    *(void **)&alloc_memory = dlsym(cuda, "cuMemAlloc_v2");
    *(void **)&free_memory = dlsym(cuda, "cuMemFree_v2");
    *(void **)&create = dlsym(cuda, "cuCtxCreate_v2");
    if (!alloc_memory || !free_memory || !create || create(&context, 0, 0) != CUDA_SUCCESS)
        die("no driver");
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, work, NULL))
            die("no thread");
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
