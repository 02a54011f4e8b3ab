/* SPDX-License-Identifier: MIT */
/*
 * storm alarm | prof: a handler that allocates and frees, on an alternate stack, at every tick of a
 * fast timer, while the main thread (alarm) or four threads (prof) do the same. Prints what was
 * really made, and what is left.
 */
#define _GNU_SOURCE
#include "../../../cuda_case.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#define SIGNALS                                                                                    \
    50 /* at least: a fast machine makes its calls in few ticks of the processor's time */

static CUcontext context;
static volatile unsigned long allocs, frees, handled;

static void pair(void) {
    CUdeviceptr p;
    CHECK(cuMemAlloc_v2(&p, 4096));
    __atomic_fetch_add(&allocs, 1, __ATOMIC_RELAXED);
    CHECK(cuMemFree_v2(p));
    __atomic_fetch_add(&frees, 1, __ATOMIC_RELAXED);
}

static void handler(int signal) {
    (void)signal;
    int saved = errno;
    __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
    pair();
    errno = saved;
}

static void *work(void *arg) {
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    CHECK(sigaltstack(&stack, NULL));
    CHECK(cuCtxSetCurrent(context));
    for (unsigned long i = 0; i < (uintptr_t)arg || (handled < SIGNALS && i < 100 * (uintptr_t)arg);
         i++)
        pair();
    return NULL;
}

int main(int argc, char **argv) {
    EXPECT(argc > 1);
    int prof = strcmp(argv[1], "prof") == 0;
    context = start_cuda();
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART};
    CHECK(sigaction(prof ? SIGPROF : SIGALRM, &action, NULL));
    struct itimerval timer = {{0, 200}, {0, 200}};
    CHECK(setitimer(prof ? ITIMER_PROF : ITIMER_REAL, &timer, NULL));
    if (prof) {
        pthread_t threads[4];
        for (int i = 0; i < 4; i++)
            CHECK(pthread_create(&threads[i], NULL, work, (void *)100000ul));
        for (int i = 0; i < 4; i++)
            CHECK(pthread_join(threads[i], NULL));
    } else {
        work((void *)400000ul);
    }
    timer = (struct itimerval){{0, 0}, {0, 0}};
    CHECK(setitimer(prof ? ITIMER_PROF : ITIMER_REAL, &timer, NULL));
    CUdeviceptr last;
    CHECK(cuMemAlloc_v2(&last, 5000));
    printf("%lu %lu %lu %llu\n", allocs + 1, frees, handled,
           (unsigned long long)vramtrace_sim_live_count(-1));
    return 0;
}
