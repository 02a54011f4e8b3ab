/* SPDX-License-Identifier: MIT */
/*
 * The benchmark's program: allocates and frees, one pair after the other, at the end of a call
 * chain of a given depth, and prints the nanoseconds that a pair took: by the clock, and of the
 * thread's own processor time.
 *
 *   pairs [-b] [-n] [-t] [-v] [-l LIVE] DEPTH STACKS PAIRS THREADS
 *
 * STACKS is the number of distinct call stacks; each pair takes one at random. They differ in which
 * of two call sites each of the outermost levels goes through. -b: blocks, reported as PyTorch's
 * allocator reports them (one thread). -n: each pair has the next stack, which there was not before
 * (PAIRS at most STACKS). -t: the threads run one after the other, for shared_writes.py. -v: sizes
 * vary. -l: that many allocations of a thread are live at a time; a pair frees one at random and
 * allocates in its place.
 *
 * Started by tests/bench/recording and tests/bench/instructions, with a libcuda.so.1 whose
 * allocations are malloc's (stub_cuda.c).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "../sim/cuda_abi_sim.h"

struct place {
    CUdeviceptr address; /* 0: free */
    size_t bytes;
};

static CUresult (*alloc_memory)(CUdeviceptr *, size_t);
static CUresult (*free_memory)(CUdeviceptr);
static void (*report_block)(void *, int64_t, size_t, size_t, uint64_t);
static void (*count_instructions)(int);
static int depth;
static uint32_t stacks, places_count = 1;
static long pairs;
static bool blocks, new_stacks, in_turn, varied;
static pthread_barrier_t start;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static volatile int turns; /* written where a thread's turn begins and ends */
static __thread struct place *places;
static size_t allocated_blocks;

static void die(const char *what) {
    fprintf(stderr, "pairs: %s\n", what);
    exit(1);
}

static void tell_block(CUdeviceptr address, int64_t bytes) {
    enum { CUDA_DEVICE = 1, RESERVED = 1 << 30 };

    allocated_blocks += (size_t)bytes;
    report_block((void *)(uintptr_t)address, bytes, allocated_blocks, RESERVED, CUDA_DEVICE);
}

static void fill(struct place *place, uint32_t random) {
    place->bytes = varied ? 64 + random % 1024 * 16 : 64;
    if (blocks)
        tell_block(place->address = (CUdeviceptr)(uintptr_t)place, (int64_t)place->bytes);
    else if (alloc_memory(&place->address, place->bytes) != CUDA_SUCCESS)
        die("an allocation failed");
}

static void empty(struct place *place) {
    if (blocks)
        tell_block(place->address, -(int64_t)place->bytes);
    else if (free_memory(place->address) != CUDA_SUCCESS)
        die("a free failed");
    place->address = 0;
}

static __attribute__((noinline)) void pair(uint32_t random) {
    struct place *place = &places[random % places_count];

    if (place->address)
        empty(place);
    fill(place, random / places_count);
    if (places_count == 1)
        empty(place);
}

/* One frame per level. The asm prevents tail calls, and keeps the two call sites apart: the code before and after
 * them differs. */
static __attribute__((noinline)) void descend(int levels, uint32_t path, uint32_t random) {
    if (levels == 0) {
        pair(random);
    } else if (path & 1) {
        __asm__ volatile("" ::: "memory");
        descend(levels - 1, path >> 1, random);
        __asm__ volatile("" ::: "memory");
    } else {
        __asm__ volatile("nop" ::: "memory");
        descend(levels - 1, path >> 1, random);
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

static uint64_t now_ns(clockid_t clock) {
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct elapsed {
    uint64_t wall, processor;
};

static void begin(struct elapsed *elapsed) {
    pthread_barrier_wait(&start);
    if (in_turn) {
        pthread_mutex_lock(&turn);
        turns++;
    }
    count_instructions(1);
    elapsed->wall = now_ns(CLOCK_MONOTONIC);
    elapsed->processor = now_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void end(struct elapsed *elapsed) {
    elapsed->processor = now_ns(CLOCK_THREAD_CPUTIME_ID) - elapsed->processor;
    elapsed->wall = now_ns(CLOCK_MONOTONIC) - elapsed->wall;
    count_instructions(0);
    if (in_turn) {
        turns++;
        pthread_mutex_unlock(&turn);
    }
}

/* Every stack once beforehand, and as many allocations as will be live, because the cost of new stacks is not
 * measured here. The stacks are the same only if one call makes both. */
static void *work(void *result) {
    uint32_t state = 2463534242u, place = 88172645u, once = new_stacks ? 1 : stacks;
    long warm = once > places_count ? once : places_count;

    places = calloc(places_count, sizeof *places);
    if (!places)
        die("no memory");
    for (long i = -warm; i < pairs; i++) {
        uint32_t path = new_stacks ? stacks : (uint32_t)(i + warm) % stacks;
        uint32_t random = (uint32_t)(i + warm);
        if (i == 0)
            begin(result);
        if (i >= 0) {
            path = new_stacks ? (uint32_t)i : next_random(&state) % stacks;
            random = next_random(&place);
        }
        descend(depth, path, random);
    }
    end(result);
    return NULL;
}

static void *symbol(void *library, const char *name) {
    void *found = dlsym(library, name);

    if (!found)
        die(dlerror());
    return found;
}

static void read_arguments(int argc, char **argv, int *threads) {
    for (int option; (option = getopt(argc, argv, "bntvl:")) != -1;) {
        if (option == 'l')
            places_count = (uint32_t)atol(optarg);
        blocks |= option == 'b';
        new_stacks |= option == 'n';
        in_turn |= option == 't';
        varied |= option == 'v';
    }
    if (argc - optind != 4)
        die("usage: pairs [-b] [-n] [-t] [-v] [-l LIVE] DEPTH STACKS PAIRS THREADS");
    depth = atoi(argv[optind]);
    stacks = (uint32_t)atoi(argv[optind + 1]);
    pairs = atol(argv[optind + 2]);
    *threads = atoi(argv[optind + 3]);
    if (depth < 1 || stacks < 1 || pairs < 1 || *threads < 1 || places_count < 1)
        die("DEPTH, STACKS, PAIRS, THREADS and LIVE are positive");
    if (new_stacks && pairs > stacks)
        die("with -n, there are at least as many STACKS as PAIRS");
}

static void start_cuda(void) {
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    CUresult (*init)(unsigned int);
    CUresult (*create)(CUcontext *, unsigned int, CUdevice);
    CUcontext context;

    if (!cuda)
        die(dlerror());
    *(void **)&alloc_memory = symbol(cuda, "cuMemAlloc_v2");
    *(void **)&free_memory = symbol(cuda, "cuMemFree_v2");
    *(void **)&count_instructions = symbol(cuda, "count_instructions");
    *(void **)&report_block =
        symbol(RTLD_DEFAULT, "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE");
    *(void **)&init = symbol(cuda, "cuInit");
    *(void **)&create = symbol(cuda, "cuCtxCreate_v2");
    if (init(0) != CUDA_SUCCESS || create(&context, 0, 0) != CUDA_SUCCESS)
        die("no context");
}

int main(int argc, char **argv) {
    enum { MOST_THREADS = 64 };
    struct elapsed elapsed[MOST_THREADS], slowest = {0, 0};
    pthread_t threads[MOST_THREADS];
    int count;

    read_arguments(argc, argv, &count);
    if (count > (blocks ? 1 : MOST_THREADS))
        die("at most 64 threads, and one with -b");
    start_cuda();
    if (in_turn) {
        printf("turns %p\n", (void *)&turns);
        fflush(stdout);
    }
    pthread_barrier_init(&start, NULL, (unsigned)count);
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, work, &elapsed[i]) != 0)
            die("no thread");
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        if (elapsed[i].wall > slowest.wall)
            slowest = elapsed[i];
    }
    printf("ns %.1f %.1f\n", (double)slowest.wall / (double)pairs,
           (double)slowest.processor / (double)pairs);
    return 0;
}
