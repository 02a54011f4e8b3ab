/* SPDX-License-Identifier: MIT */
/*
 * forks alarm | prof COUNT: a signal handler forks, in the main thread (alarm) or in one of four threads (prof), while they
 * allocate and free; parent and child both return from it. The child ends behind the call that was interrupted; every
 * seventh makes an allocation of its own first. Prints what the parent made, and how many children there were.
 */
#define _GNU_SOURCE
#include "../../../cuda_case.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static CUcontext context;
static volatile unsigned long allocs, frees, forks, wanted;
static volatile sig_atomic_t is_child;
static int timer;

static void set_timer(long us) {
    struct itimerval t = {{0, 0}, {0, us}};
    CHECK(setitimer(timer, &t, NULL));
}

static void handler(int signal) {
    (void)signal;
    int saved = errno;
    unsigned long n = __atomic_add_fetch(&forks, 1, __ATOMIC_RELAXED);
    if (n <= wanted) {
        pid_t child = fork();
        if (child == 0)
            is_child = 1 + (n % 7 == 0);
        else
            EXPECT(child > 0 && waitpid(child, NULL, 0) == child);
    }
    if (!is_child && n < wanted)
        set_timer(20 + (long)(n * 7 % 100));
    errno = saved;
}

static void end_child(void) {
    CUdeviceptr p;
    if (is_child > 1)
        CHECK(cuMemAlloc_v2(&p, 777));
    _exit(0);
}

static void *work(void *unused) {
    (void)unused;
    CHECK(cuCtxSetCurrent(context));
    while (forks < wanted) {
        CUdeviceptr p;
        CHECK(cuMemAlloc_v2(&p, 4096));
        if (is_child)
            end_child();
        __atomic_fetch_add(&allocs, 1, __ATOMIC_RELAXED);
        CHECK(cuMemFree_v2(p));
        if (is_child)
            end_child();
        __atomic_fetch_add(&frees, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

int main(int argc, char **argv) {
    EXPECT(argc > 2);
    int prof = strcmp(argv[1], "prof") == 0;
    timer = prof ? ITIMER_PROF : ITIMER_REAL;
    wanted = strtoul(argv[2], NULL, 10);
    context = start_cuda();
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    CHECK(sigaction(prof ? SIGPROF : SIGALRM, &action, NULL));
    set_timer(1000);
    if (prof) {
        pthread_t threads[4];
        for (int i = 0; i < 4; i++)
            CHECK(pthread_create(&threads[i], NULL, work, NULL));
        for (int i = 0; i < 4; i++)
            CHECK(pthread_join(threads[i], NULL));
    } else {
        work(NULL);
    }
    printf("%d %lu %lu %lu\n", (int)getpid(), allocs, frees, wanted);
    return 0;
}
