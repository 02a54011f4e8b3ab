/* SPDX-License-Identifier: MIT */
/*
 * records FILE THREADS FORKS: each thread allocates blocks of 1, 2, 3, ... bytes and frees each at once, until the process is
 * killed. It counts in FILE, mapped shared, what it has begun and what has come back. FORKS 1: signal handlers fork,
 * wherever they come; their children return to what their thread was at, and end when it is done.
 */
#define _GNU_SOURCE
#include "../../cuda_case.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MOST = 16 };
static struct truth {
    volatile uint64_t begun, back, free_begun, free_back;
    char pad[32];
} * truths;
static CUcontext context;
static volatile pid_t parent;
static pid_t (*without_handlers)(
    void); /* _Fork: fork may not be called where malloc was interrupted */

static void forks(int number) {
    (void)number;
    if (without_handlers() != 0)
        return;
    alarm(2); /* another thread may have held a lock */
    mmap(truths, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/* A child ends with the call that was interrupted. */
static void in_parent(CUresult result) {
    if (getpid() != parent)
        _exit(0);
    CHECK(result);
}

static void *work(void *truth) {
    struct truth *t = truth;
    CUdeviceptr p;
    in_parent(cuCtxSetCurrent(context));
    for (uint64_t size = 1;; size++) {
        t->begun++;
        in_parent(cuMemAlloc_v2(&p, size));
        t->back++;
        t->free_begun++;
        in_parent(cuMemFree_v2(p));
        t->free_back++;
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t thread[THREADS_MOST];
    EXPECT(argc == 4);
    int fd = open(argv[1], O_RDWR | O_CREAT, 0600), threads = atoi(argv[2]);
    CHECK(ftruncate(fd, 4096));
    truths = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    EXPECT(truths != MAP_FAILED && threads <= THREADS_MOST);
    parent = getpid();
    without_handlers = __extension__(pid_t(*)(void)) dlsym(RTLD_DEFAULT, "_Fork");
    CHECK(
        sigaction(SIGUSR1, &(struct sigaction){.sa_handler = forks, .sa_flags = SA_RESTART}, NULL));
    context = start_cuda();
    for (int i = 0; i < threads; i++)
        CHECK(pthread_create(&thread[i], NULL, work, truths + i));
    for (int i = 0; *argv[3] == '1' && without_handlers; i++) {
        CHECK(pthread_kill(thread[i % threads], SIGUSR1));
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); /* the handlers' pace */
        while (waitpid(-1, NULL, WNOHANG) > 0)
            continue;
    }
    pause();
    return 0;
}
