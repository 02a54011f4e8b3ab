/* SPDX-License-Identifier: MIT */
/*
 * cut LOG [none|passed|fault|sent|before|after|cut-before|cut-after]: four threads allocate and free
 * while the log is truncated over and over, without a handler or with one that passes each signal to
 * the handler before it. Then a SIGBUS of the program's own: at a mapping past its file's end, or sent;
 * with a handler that was installed before CUDA was used, or after. Then a truncated log and such a
 * handler.
 */
#define _GNU_SOURCE
#include "../../cuda_case.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *path;
static CUcontext context;
static atomic_uint cuts, running = 4;

/* Each goes on until the log was cut often enough. */
static void *churn(void *unused) {
    CUdeviceptr p;
    unsigned rounds = 0;
    CHECK(cuCtxSetCurrent(context));
    while (atomic_load(&cuts) < 200 || rounds < 20000) {
        CHECK(cuMemAlloc_v2(&p, 256 + rounds % 16));
        CHECK(cuMemFree_v2(p));
        rounds++;
    }
    atomic_fetch_sub(&running, 1);
    return unused;
}

static void handler(int number, siginfo_t *info, void *unused) {
    (void)unused;
    _Exit(number == SIGBUS && info->si_code == BUS_ADRERR ? 42 : 43);
}

/* The tracer's end would meet the truncated log again. */
static void leave_at_once(int number, siginfo_t *info, void *unused) {
    (void)unused;
    syscall(SYS_exit_group, number == SIGBUS && info->si_code == BUS_ADRERR ? 42 : 43);
}

static struct sigaction was;

static void pass_on(int number, siginfo_t *info, void *context) {
    if (was.sa_flags & SA_SIGINFO)
        was.sa_sigaction(number, info, context);
}

static void handle(void (*function)(int, siginfo_t *, void *)) {
    struct sigaction a = {.sa_flags = SA_SIGINFO | SA_NODEFER};
    a.sa_sigaction = function;
    EXPECT(sigaction(SIGBUS, &a, &was) == 0);
}

static void fault(void) {
    int fd = open("empty", O_RDWR | O_CREAT, 0600);
    volatile char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    *p = 1;
}

int main(int argc, char **argv) {
    const char *how = argc > 2 ? argv[2] : "none";
    bool cut = strncmp(how, "cut", 3) == 0;
    CUdeviceptr kept;
    pthread_t threads[4];
    path = argv[1];
    if (strstr(how, "before"))
        handle(cut ? leave_at_once : handler);
    start_cuda();
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuMemAlloc_v2(&kept, 1000));
    if (strstr(how, "after"))
        handle(cut ? leave_at_once : handler);
    if (strcmp(how, "passed") == 0)
        handle(pass_on);
    if (cut) {
        (void)!truncate(path, 0);
        CHECK(cuMemFree_v2(kept));
        return 0;
    }
    if (strcmp(how, "none") == 0 || strcmp(how, "passed") == 0) {
        for (int i = 0; i < 4; i++)
            EXPECT(pthread_create(&threads[i], NULL, churn, NULL) == 0);
        while (atomic_load(&running)) {
            /* Untraced there is nothing to cut. */
            (void)!truncate(path, atomic_load(&cuts) % 3 * 4096);
            atomic_fetch_add(&cuts, 1);
        }
        for (int i = 0; i < 4; i++)
            EXPECT(pthread_join(threads[i], NULL) == 0);
        printf("%d\n", (int)vramtrace_sim_live_count(-1));
        return 5;
    }
    if (strcmp(how, "sent") == 0)
        kill(getpid(), SIGBUS);
    else
        fault();
    return 0;
}
