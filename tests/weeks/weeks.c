/* SPDX-License-Identifier: MIT */
/* weeks SEED EVENTS: eight threads make and free about EVENTS / 2 blocks, in rounds, which are phases. What a thread does follows
 * from the seed alone: sizes, how many in a round, pauses, what it holds until the next round, when another thread frees it,
 * and what it keeps for good. main keeps a block of each round. Half-way, and at the end, a request is larger than the device. */
#define _GNU_SOURCE
#include "../cuda_case.h"
#include "vramtrace.h"

#include <pthread.h>
#include <time.h>

enum { THREADS = 8, HELD_MOST = 60, KEPT_MOST = 1 << 20 };

static CUcontext context;
static pthread_barrier_t barrier;
static uint64_t seed;
static long rounds;
static unsigned pairs_least, pairs_more, held_count, keep_each, pause_each, pause_ns;

struct thread {
    pthread_t id;
    long number;
    uint64_t random;
    CUdeviceptr held[HELD_MOST];
};
static struct thread threads[THREADS];
static CUdeviceptr kept[KEPT_MOST];
static size_t kept_count;

static uint64_t next(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static unsigned below(uint64_t *state, unsigned limit) {
    return (unsigned)(next(state) % limit);
}

static size_t some_size(uint64_t *state) {
    return (size_t)512 << below(state, 8);
}

static __attribute__((noinline)) void hold(struct thread *t) {
    for (unsigned i = 0; i < held_count; i++)
        CHECK(cuMemAlloc_v2(&t->held[i], some_size(&t->random)));
}

static __attribute__((noinline)) void keep(uint64_t *random) {
    CUdeviceptr p;
    CHECK(cuMemAlloc_v2(&p, some_size(random)));
    kept[__atomic_fetch_add(&kept_count, 1, __ATOMIC_RELAXED) % KEPT_MOST] = p;
}

static __attribute__((noinline)) void churn(struct thread *t) {
    CUdeviceptr p;
    unsigned pairs = pairs_least + below(&t->random, pairs_more);
    for (unsigned i = 1; i <= pairs; i++) {
        if (i % pause_each == 0) /* real programs do more than allocate */
            nanosleep(&(struct timespec){0, pause_ns}, NULL);
        CHECK(cuMemAlloc_v2(&p, some_size(&t->random)));
        CHECK(cuMemFree_v2(p));
    }
}

/* At the beginning and in the middle of a round main works alone, so the live memory follows from the seed. */
static void await_main(void) {
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
}

static void *work(void *thread) {
    struct thread *t = thread, *other = &threads[(t->number + 1) % THREADS];
    CHECK(cuCtxSetCurrent(context));
    for (long round = 0; round < rounds; round++) {
        await_main();
        vramtrace_push("worker"); /* more of them than a summary keeps */
        hold(t);
        churn(t);
        if (below(&t->random, keep_each) == 0)
            keep(&t->random);
        vramtrace_pop();
        await_main();
        for (unsigned i = 0; i < held_count; i++)
            CHECK(cuMemFree_v2(other->held[i]));
    }
    await_main();
    return NULL;
}

static __attribute__((noinline)) void grow(uint64_t *random) {
    keep(random);
}

static __attribute__((noinline)) void ask_too_much(void) {
    CUdeviceptr p;
    EXPECT(cuMemAlloc_v2(&p, (size_t)1 << 40) == CUDA_ERROR_OUT_OF_MEMORY);
}

int main(int argc, char **argv) {
    static const char *const names[] = {"step", "step", "evaluation", "saving"};
    EXPECT(argc > 2);
    uint64_t random = seed = strtoull(argv[1], NULL, 10);
    pairs_least = 500 + below(&random, 3000);
    pairs_more = 1 + below(&random, 3000);
    held_count = 5 + below(&random, HELD_MOST - 5);
    keep_each = 2 + below(&random, 50);
    pause_each = 50 + below(&random, 100);
    pause_ns = 10000 * pause_each;
    rounds = atol(argv[2]) / (THREADS * (2l * (pairs_least + pairs_more / 2) + 2 * held_count)) + 1;
    unsigned each = 2 + below(&random, 10);
    context = start_cuda();
    CHECK(pthread_barrier_init(&barrier, NULL, THREADS + 1));
    for (long i = 0; i < THREADS; i++) {
        threads[i] = (struct thread){.number = i, .random = seed * 1000 + (uint64_t)i};
        CHECK(pthread_create(&threads[i].id, NULL, work, &threads[i]));
    }
    for (long round = 0; round <= rounds; round++) {
        pthread_barrier_wait(&barrier);
        if (round > 0)
            vramtrace_pop();
        if (round < rounds)
            vramtrace_push(names[round % each == 0 ? 2 + round % 2 : 0]);
        pthread_barrier_wait(&barrier);
        if (round == rounds)
            break;
        pthread_barrier_wait(&barrier);
        grow(&random);
        if (round == rounds / 2)
            ask_too_much();
        pthread_barrier_wait(&barrier);
    }
    for (long i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i].id, NULL));
    ask_too_much();
    return 0;
}
