/* SPDX-License-Identifier: MIT */
/* cut COUNTS: four threads, each at a call site of its own, make blocks and free the oldest of those that they hold, until the
 * process is killed. Each counts what it did in the file COUNTS, as soon as it is done. */
#define _GNU_SOURCE
#include "../../cuda_case.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, HELD = 40 };

static uint64_t
    *counts; /* of each thread, in a line of its own: allocations that succeeded, frees */
static CUcontext context;

static inline void count(uint64_t *of) {
    __atomic_store_n(of, *of + 1, __ATOMIC_RELEASE);
}

#define SITE(thread)                                                                               \
    static __attribute__((noinline)) void make##thread(CUdeviceptr *p, size_t bytes) {             \
        CHECK(cuMemAlloc_v2(p, bytes));                                                            \
        count(&counts[16 * thread]);                                                               \
    }
SITE(0)
SITE(1)
SITE(2)
SITE(3)
static void (*const make[THREADS])(CUdeviceptr *, size_t) = {make0, make1, make2, make3};

static void *work(void *number) {
    long thread = (long)number;
    CUdeviceptr held[HELD] = {0};
    CHECK(cuCtxSetCurrent(context));
    for (unsigned long i = 0;; i++) {
        CUdeviceptr *p = &held[i % HELD];
        if (i % 100 == 99) /* no program does nothing but allocate */
            nanosleep(&(struct timespec){0, 500000}, NULL);
        if (*p) {
            CHECK(cuMemFree_v2(*p));
            count(&counts[16 * thread + 1]);
        }
        make[thread](p, 512 + (i * 7919 % 61) * 512);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t thread[THREADS];
    EXPECT(argc > 1);
    int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    EXPECT(fd >= 0 && ftruncate(fd, 4096) == 0);
    counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    EXPECT(counts != MAP_FAILED);
    context = start_cuda();
    for (long i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread[i], NULL, work, (void *)i));
    pause();
    return 0;
}
