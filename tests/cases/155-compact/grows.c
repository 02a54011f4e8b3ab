/* SPDX-License-Identifier: MIT */
/* grows COUNTS THREADS ROUNDS PAIRS END: in each round, which is a phase, each thread makes and frees PAIRS blocks, and keeps some
 * of them until the next round; main keeps one for good. Half-way, and at the end, a request is larger than the device. Each
 * thread counts what it did in the file COUNTS, as soon as it is done. END: "exit", or "wait" to be killed. */
#define _GNU_SOURCE
#include "../../cuda_case.h"
#include "vramtrace.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { HELD = 50, MOST = 100000 };

static uint64_t
    *counts; /* of each thread, in a line of its own: allocations that succeeded, frees */
static CUdeviceptr kept[MOST];
static CUcontext context;
static pthread_barrier_t barrier;
static long rounds, pairs;

static void took(long thread, CUdeviceptr *p, size_t bytes) {
    CHECK(cuMemAlloc_v2(p, bytes));
    __atomic_store_n(&counts[16 * thread], counts[16 * thread] + 1, __ATOMIC_RELEASE);
}

static void gave(long thread, CUdeviceptr p) {
    CHECK(cuMemFree_v2(p));
    __atomic_store_n(&counts[16 * thread + 1], counts[16 * thread + 1] + 1, __ATOMIC_RELEASE);
}

static __attribute__((noinline)) void hold(long thread, CUdeviceptr *held, int n) {
    for (int i = 0; i < n; i++)
        took(thread, &held[i], 2048 + (size_t)(thread * 512));
}

static void *work(void *number) {
    long thread = (long)number + 1;
    CUdeviceptr held[HELD], p;
    CHECK(cuCtxSetCurrent(context));
    for (long round = 0; round < rounds; round++) {
        hold(thread, held, HELD);
        for (long i = 0; i < pairs; i++) {
            if (i % 100 == 99) /* no program does nothing but allocate */
                nanosleep(&(struct timespec){0, 1000000}, NULL);
            took(thread, &p, 512 + (size_t)(i % 7) * 512);
            gave(thread, p);
        }
        pthread_barrier_wait(&barrier);
        for (int i = 0; i < HELD; i++)
            gave(thread, held[i]);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static __attribute__((noinline)) void keep(long round) {
    took(0, &kept[round % MOST], 4096);
}

static __attribute__((noinline)) void ask_too_much(void) {
    CUdeviceptr p;
    EXPECT(cuMemAlloc_v2(&p, (size_t)1 << 40) == CUDA_ERROR_OUT_OF_MEMORY);
}

int main(int argc, char **argv) {
    EXPECT(argc > 5);
    int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    EXPECT(fd >= 0 && ftruncate(fd, 65536) == 0);
    counts = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    long threads = atol(argv[2]);
    rounds = atol(argv[3]), pairs = atol(argv[4]);
    pthread_t *thread = calloc((size_t)threads, sizeof *thread);
    context = start_cuda();
    CHECK(pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1));
    for (long i = 0; i < threads; i++)
        CHECK(pthread_create(&thread[i], NULL, work, (void *)i));
    for (long round = 0; round < rounds; round++) {
        vramtrace_push(round % 10 == 9 ? "evaluation" : "step");
        keep(round);
        if (round == rounds / 2)
            ask_too_much();
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        vramtrace_pop();
    }
    for (long i = 0; i < threads; i++)
        CHECK(pthread_join(thread[i], NULL));
    ask_too_much();
    while (!strcmp(argv[5], "wait"))
        pause();
    return 0;
}
