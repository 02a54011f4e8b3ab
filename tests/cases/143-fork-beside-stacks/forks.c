/* SPDX-License-Identifier: MIT */
/* forks N: threads allocate through ever new stacks, for which the tracer reads the loader's list, while main forks N times. Each child
 * allocates and ends. */
#define _GNU_SOURCE
#include "../../cuda_case.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static CUcontext context;
static int stop; /* atomic */

/* One stack for each number. */
__attribute__((noinline)) static void through(unsigned number, CUdeviceptr *p) {
    if (number <= 1)
        CHECK(cuMemAlloc_v2(p, 4096));
    else if (number & 1)
        through(number >> 1, p);
    else {
        through(number >> 1, p);
        __asm__ volatile("nop");
    }
    __asm__ volatile("" ::: "memory");
}

static void *run(void *first) {
    CHECK(cuCtxSetCurrent(context));
    for (unsigned i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
        CUdeviceptr p;
        through(i * 4 + (unsigned)(long)first, &p);
        CHECK(cuMemFree_v2(p));
    }
    return NULL;
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 0;
    pthread_t thread[3];
    CUdeviceptr p;
    context = start_cuda();
    CHECK(cuMemAlloc_v2(&p, 4096));
    for (long i = 0; i < 3; i++)
        CHECK(pthread_create(&thread[i], NULL, run, (void *)i));
    for (int i = 0; i < count; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            alarm(60); /* a child that waits for a lock for ever */
            (void)cuMemFree_v2(p);
            _exit(0);
        }
        EXPECT(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(thread[i], NULL));
    puts("all children ended");
    return 0;
}
