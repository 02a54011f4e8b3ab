/* SPDX-License-Identifier: MIT */
/*
 * races WHEN HOW COUNT: children that are made while another thread is inside the tracer. Each calls CUDA through a stack that only
 * libunwind can walk, says so through a pipe, and ends.
 *   arming    COUNT processes; in each, a thread makes its first CUDA call while main makes a child
 *   stacks    one process; three threads call CUDA through ever new stacks of that kind while main makes COUNT children
 *   loader    one process; two threads open and close a library (./libplug.so) meanwhile
 *   first     the same, before anything of CUDA, in a process that has given up new privileges
 * HOW: fork, _Fork, clone (a bare system call), vfork, spawn (both start this program again).
 * Prints how many hung, which is found out by waiting for long. `child` is what the started one does.
 */
#define _GNU_SOURCE
#include "../../../bare_call.h"
#include "../../../cuda_case.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef LONG_ENOUGH
#define LONG_ENOUGH 60000 /* ms; only catches a hang */
#endif

extern char **environ;
extern pid_t _Fork(void) __attribute__((weak));

/* Calls f(data). The rule for its frame is an expression: rbp + 16 + 0. */
void oddly(void *data, void (*f)(void *data));
#ifdef __aarch64__
__asm__(
    ".text\n.globl oddly\n.type oddly, %function\noddly:\n.cfi_startproc\n"
    "stp x29, x30, [sp, -16]!\n.cfi_def_cfa_offset 16\n.cfi_offset 29, -16\n.cfi_offset 30, -8\n"
    "mov x29, sp\n.cfi_escape 0x0f, 4, 0x8d, 16, 0x30, 0x22\nblr x1\n"
    "ldp x29, x30, [sp], 16\n.cfi_def_cfa 31, 0\nret\n.cfi_endproc\n.size oddly, .-oddly\n");
#else
__asm__(".text\n.globl oddly\n.type oddly, @function\noddly:\n.cfi_startproc\n"
        "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6, -16\n"
        "mov %rsp, %rbp\n.cfi_escape 0x0f, 4, 0x76, 16, 0x30, 0x22\ncall *%rsi\n"
        "pop %rbp\n.cfi_def_cfa 7, 8\nret\n.cfi_endproc\n.size oddly, .-oddly\n");
#endif

static void pair(void *unused) {
    CUdeviceptr p;
    (void)unused;
    CHECK(cuMemAlloc_v2(&p, 4096));
    CHECK(cuMemFree_v2(p));
}

/* One stack for each number. */
__attribute__((noinline)) static void through(unsigned number) {
    if (number <= 1)
        oddly(NULL, pair);
    else if (number & 1)
        through(number >> 1);
    else {
        through(number >> 1);
        __asm__ volatile("nop");
    }
    __asm__ volatile("" ::: "memory");
}

static void use_cuda(unsigned number) {
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuCtxCreate_v2(&context, 0, 0));
    through(number);
}

static int ends[2];

/* What a child does. */
static void child_works(void) {
    use_cuda(12345);
    if (write(ends[1], "x", 1) != 1)
        _exit(2);
    _exit(0);
}

static pid_t make_child(const char *how) {
    char fd[16], *const args[] = {"./races", "child", fd, NULL};
    pid_t child = -1;
    snprintf(fd, sizeof fd, "%d", ends[1]);
    if (strcmp(how, "spawn") == 0) {
        CHECK(posix_spawn(&child, args[0], NULL, NULL, args, environ));
        return child;
    }
    if (strcmp(how, "vfork") == 0) {
        child = vfork();
        if (child == 0) {
            execv(args[0], args);
            _exit(127);
        }
        return child;
    }
    if (strcmp(how, "_Fork") == 0)
        child = _Fork();
    else if (strcmp(how, "clone") == 0)
        child = (pid_t)bare_call(SYS_clone, SIGCHLD, 0, 0);
    else
        child = fork();
    if (child == 0)
        child_works();
    return child;
}

/* Makes a child and waits for it. False: it hung. */
static bool child_ends(const char *how) {
    struct pollfd ready;
    char byte;
    int status;
    CHECK(pipe(ends));
    pid_t child = make_child(how);
    EXPECT(child > 0);
    close(ends[1]);
    ready = (struct pollfd){.fd = ends[0], .events = POLLIN};
    int n = poll(&ready, 1, LONG_ENOUGH);
    if (n != 1)
        kill(child, SIGKILL);
    bool said = n == 1 && read(ends[0], &byte, 1) == 1;
    EXPECT(waitpid(child, &status, 0) == child);
    close(ends[0]);
    EXPECT(n != 1 || (said && status == 0));
    return n == 1;
}

static int started, stop; /* atomic */

static void *first_call(void *unused) {
    (void)unused;
    __atomic_store_n(&started, 1, __ATOMIC_SEQ_CST);
    use_cuda(77);
    return NULL;
}

/* The delay goes through the length of arming, from one process to the next. */
static bool race(const char *how, unsigned turn) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, first_call, NULL));
    while (!__atomic_load_n(&started, __ATOMIC_SEQ_CST))
        sched_yield();
    for (volatile unsigned i = 0; i < turn * 7919u % 400000; i++)
        continue;
    bool ended = child_ends(how);
    CHECK(pthread_join(thread, NULL));
    return ended;
}

static unsigned arming(const char *how, unsigned count) {
    unsigned hung = 0;
    for (unsigned i = 0; i < count; i++) {
        int status;
        pid_t parent = fork();
        if (parent == 0)
            _exit(race(how, i) ? 0 : 3);
        EXPECT(parent > 0 && waitpid(parent, &status, 0) == parent && WIFEXITED(status));
        EXPECT(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 3);
        hung += WEXITSTATUS(status) == 3;
    }
    return hung;
}

static void *new_stacks(void *first) {
    for (unsigned i = 1; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++)
        through(i * 4 + (unsigned)(long)first);
    return NULL;
}

static void *plug_in_and_out(void *unused) {
    (void)unused;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        void *handle = dlopen("./libplug.so", RTLD_NOW);
        EXPECT(handle);
        dlclose(handle);
    }
    return NULL;
}

static bool is_first;

static unsigned beside(void *(*others)(void *), const char *how, unsigned count) {
    pthread_t thread[3];
    unsigned hung = 0;
    if (!is_first)
        use_cuda(1);
    for (long i = 0; i < 3; i++)
        CHECK(pthread_create(&thread[i], NULL, others, (void *)i));
    for (unsigned i = 0; i < count; i++)
        hung += !child_ends(how);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(thread[i], NULL));
    return hung;
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "child") == 0) {
        ends[1] = atoi(argv[2]);
        child_works();
    }
    EXPECT(argc == 4);
    unsigned count = (unsigned)atoi(argv[3]), hung;
    if (strcmp(argv[2], "_Fork") == 0 && !_Fork)
        return 77;
    is_first = strcmp(argv[1], "first") == 0;
    if (is_first)
        CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    if (strcmp(argv[1], "arming") == 0)
        hung = arming(argv[2], count);
    else
        hung =
            beside(strcmp(argv[1], "stacks") == 0 ? new_stacks : plug_in_and_out, argv[2], count);
    printf("%u hung\n", hung);
    return 0;
}
