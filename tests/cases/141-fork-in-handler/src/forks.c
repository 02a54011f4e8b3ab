/* SPDX-License-Identifier: MIT */
/*
 * forks alarm | prof | FOLDER COUNT WAY: a signal handler forks, in the main thread (alarm) or in one of four threads
 * (prof), while they allocate and free; or in the main thread each time that a file in FOLDER changes, which a log does
 * when a chunk gets its space. Parent and child both return from it. The child ends behind the call that was interrupted; every
 * seventh makes an allocation of its own first, every fourteenth one more before that, in a thread. Prints what the parent
 * made, and how many children there were.
 *
 * With WAY "wait" the parent waits for each child in the handler. With the others it allocates on, and the child stays in
 * the handler until the parent has filled a few chunks of its log.
 */
#define _GNU_SOURCE
#include "../../../bare_call.h"
#include "../../../cuda_case.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 4, A_FEW_CHUNKS = 8000 };

static CUcontext context;
static volatile unsigned long allocs, frees, forks, wanted;
static volatile unsigned long *progress; /* shared with the children */
static const unsigned long THE_END = 1ul << 62;
static volatile sig_atomic_t is_child, children;
static int timer; /* or -1 */
static const char *way;

static void set_timer(long us) {
    struct itimerval t = {{0, 0}, {0, us}};
    CHECK(setitimer(timer, &t, NULL));
}

static pid_t fork_by_way(void) {
    static const struct {
        uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, others[6];
    } clone3 = {.exit_signal = SIGCHLD};
    int terminal; /* stays open */
    if (strcmp(way, "_Fork") == 0) {
        pid_t (*real)(void) = __extension__(pid_t(*)(void)) dlsym(RTLD_DEFAULT, "_Fork");
        return real ? real() : fork(); /* glibc has it since 2.34 */
    }
    if (strcmp(way, "forkpty") == 0)
        return forkpty(&terminal, NULL, NULL, NULL);
    if (strcmp(way, "syscall") == 0)
        return (pid_t)syscall(FORK_CALL, 0, 0, 0);
    if (strcmp(way, "bare") == 0)
        return (pid_t)bare_call(FORK_CALL, 0);
    if (strcmp(way, "clone") == 0)
        return (pid_t)bare_call(SYS_clone, SIGCHLD, 0, 0);
    if (strcmp(way, "clone3") == 0)
        return (pid_t)bare_call(SYS_clone3, (long)&clone3, sizeof clone3, 0);
    return fork();
}

static void stay_behind(void) {
    const struct timespec a_moment = {0, 50000};
    unsigned long until = *progress + A_FEW_CHUNKS;
    while (*progress < until && *progress < THE_END)
        nanosleep(&a_moment, NULL);
}

static void handler(int signal) {
    (void)signal;
    int saved = errno, status;
    bool waits = strcmp(way, "wait") == 0;
    while (children && waitpid(-1, NULL, WNOHANG) > 0)
        children--;
    if (children < CHILDREN && forks < wanted) {
        unsigned long n = ++forks;
        pid_t child = fork_by_way();
        EXPECT(child >= 0);
        if (child == 0) {
            is_child = 1 + (n % 7 == 0) + (n % 14 == 0);
            if (!waits)
                stay_behind();
        } else {
            children++;
            if (waits)
                EXPECT(waitpid(child, &status, 0) == child && children-- == 1 && status == 0);
        }
    }
    if (timer >= 0 && !is_child && forks < wanted)
        set_timer(children < CHILDREN ? 20 + (long)(forks * 7 % 100) : 2000);
    errno = saved;
}

static void *allocate(void *unused) {
    CUdeviceptr p;
    CHECK(cuMemAlloc_v2(&p, 777));
    return unused;
}

static void end_child(void) {
    pthread_t thread;
    if (is_child > 2)
        EXPECT(pthread_create(&thread, NULL, allocate, NULL) == 0 &&
               pthread_join(thread, NULL) == 0);
    if (is_child > 1)
        allocate(NULL);
    _exit(0);
}

/* False: this system has none. */
static bool notify_of(const char *folder) {
    struct f_owner_ex self = {F_OWNER_TID, getpid()};
    int fd = open(folder, O_RDONLY | O_DIRECTORY);
    EXPECT(fd >= 0);
    return fcntl(fd, F_SETOWN_EX, &self) == 0 && fcntl(fd, F_NOTIFY, DN_MODIFY | DN_MULTISHOT) == 0;
}

/* Whether this thread may run the handler. */
static void set_handling(bool may) {
    sigset_t set;
    EXPECT(sigemptyset(&set) == 0 && sigaddset(&set, SIGPROF) == 0);
    EXPECT(pthread_sigmask(may ? SIG_UNBLOCK : SIG_BLOCK, &set, NULL) == 0);
}

static void *work(void *unused) {
    (void)unused;
    set_handling(true);
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
        __atomic_fetch_add(progress, 2, __ATOMIC_RELAXED);
    }
    if (is_child)
        end_child();
    return NULL;
}

int main(int argc, char **argv) {
    EXPECT(argc > 3);
    bool prof = strcmp(argv[1], "prof") == 0, alarm = strcmp(argv[1], "alarm") == 0;
    timer = prof ? ITIMER_PROF : alarm ? ITIMER_REAL : -1;
    wanted = strtoul(argv[2], NULL, 10);
    way = argv[3];
    progress = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(progress != MAP_FAILED);
    context = start_cuda();
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    CHECK(sigaction(prof ? SIGPROF : alarm ? SIGALRM : SIGIO, &action, NULL));
    /* A child of this thread would join threads that it does not have, and die in glibc. */
    set_handling(!prof);
    if (timer >= 0)
        set_timer(1000);
    else if (!notify_of(argv[1]))
        wanted = 0;
    if (prof) {
        pthread_t threads[4];
        for (int i = 0; i < 4; i++)
            CHECK(pthread_create(&threads[i], NULL, work, NULL));
        for (int i = 0; i < 4; i++)
            CHECK(pthread_join(threads[i], NULL));
    } else {
        work(NULL);
    }
    *progress = THE_END;
    while (waitpid(-1, NULL, 0) > 0)
        continue;
    printf("%d %lu %lu %lu\n", (int)getpid(), allocs, frees, wanted);
    return 0;
}
