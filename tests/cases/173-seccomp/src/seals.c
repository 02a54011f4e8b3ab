/* SPDX-License-Identifier: MIT */
/*
 * seals HOW COUNT: pairs of allocation and free, then a seccomp filter that kills the process for any call but read,
 * write, the ends and the way back from a handler, then COUNT more pairs, some from a place that did not call before.
 *   prctl, syscall   the filter, set by either
 *   strict           seccomp's own strict mode
 *   first            nothing of CUDA before the filter
 *   refused          a filter that the kernel refuses: nothing changes
 *   bare             the filter, set by a bare instruction
 *   bare-first       the same before anything of CUDA; it allows a few more calls, as each does under
 *                    which CUDA starts
 *   silent           the filter, which allows prctl too, set by root with a bare instruction alone
 *   none             no filter: only new privileges are given up
 *   none-first       the same before anything of CUDA
 *   none-vfork       the same in a vfork child
 *   child-HOW        a child in this memory, which this thread waits for, sets one that allows all, and ends: vfork, as sandboxes
 *                    are started, vfork-bare (by a bare instruction), clone, clone-bare, vfork-strict (which kills for all but an end)
 *   ends-none, ends-prctl   as none and prctl; then a vfork child fails to start a program, and ends; then this one is killed
 *   ends-clone       as ends-prctl, and before that a child of clone in this memory ends
 */
#define _GNU_SOURCE
#include "../../../bare_call.h"
#include "../../../cuda_case.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALLOW(n)                                                                                   \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (n), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    ALLOW(SYS_read),
    ALLOW(SYS_write),
    ALLOW(SYS_exit),
    ALLOW(SYS_exit_group),
    ALLOW(SYS_rt_sigreturn),
#define FOR_CUDA 11 /* the index of what only bare-first allows */
    ALLOW(SYS_openat),
    ALLOW(SYS_close),
    ALLOW(SYS_rt_sigprocmask),
    ALLOW(SYS_getrandom),
    ALLOW(SYS_mmap),
    ALLOW(SYS_munmap),
    ALLOW(SYS_brk),
    ALLOW(SYS_fstat),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

static void pairs(unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        CUdeviceptr p;
        CHECK(cuMemAlloc_v2(&p, 4096));
        CHECK(cuMemFree_v2(p));
    }
}

static __attribute__((noinline)) void pairs_from_elsewhere(unsigned n) {
    pairs(n);
    __asm__ volatile("");
}

static void give_up_in_vfork_child(void) {
    pid_t child = vfork();
    if (child == 0) {
        int result = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        syscall(SYS_exit, result);
    }
    int status = -1;
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
}

/* Allows what that takes, in place of what CUDA's start takes. */
static void allow_children(void) {
    static const unsigned calls[] = {SYS_vfork, SYS_execve, SYS_wait4, SYS_kill, SYS_clone};
    for (int i = 0; i < 5; i++)
        filter[FOR_CUDA + 2 * i].k = calls[i];
}

static struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
static struct sock_fprog allows_all = {1, all};

static void confine_child(const char *how) {
    struct sock_fprog *program = &allows_all;
    struct sock_fprog strict = {sizeof filter / sizeof filter[0], filter};
    if (strstr(how, "strict"))
        program = &strict;
    long result = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (strstr(how, "bare"))
        result |= bare_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)program);
    else
        result |= prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program);
    _exit(result ? 9 : 7);
}

static int confined(void *how) {
    confine_child(how);
    return 9;
}

static int ends(void *unused) {
    (void)unused;
    _exit(7);
}

static pid_t clone_child(int (*function)(void *), const char *how) {
    static _Alignas(16) char stack[1 << 16];
    return clone(function, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, (void *)how);
}

static void end_a_clone(void) {
    int status = -1;
    pid_t child = clone_child(ends, NULL);
    EXPECT(child > 0 && waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
}

static void confine_a_child(const char *how) {
    pid_t child;
    int status = -1;
    if (strstr(how, "clone")) {
        child = clone_child(confined, how);
    } else {
        child = vfork();
        if (child == 0)
            confine_child(how);
    }
    EXPECT(child > 0 && waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
}

static void end_a_child(void) {
    char *const args[] = {"none", NULL};
    pid_t child = vfork();
    if (child == 0) {
        execv("/nowhere/none", args);
        _exit(127);
    }
    int status = -1;
    EXPECT(child > 0 && waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 127);
}

int main(int argc, char **argv) {
    EXPECT(argc > 2);
    const char *how = argv[1];
    unsigned n = (unsigned)atoi(argv[2]);
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    const pid_t self = getpid();
    const bool before = strstr(how, "first") != NULL;
    if (!before) {
        start_cuda();
        pairs(1000);
    }
    for (int i = 0; i < 16 && strcmp(how, "bare-first") != 0; i += 2)
        filter[FOR_CUDA + i].k = 0xffff; /* no call's number */
    if (strcmp(how, "silent") == 0)
        filter[FOR_CUDA].k = SYS_prctl;
    if (strncmp(how, "ends-", 5) == 0)
        allow_children();
    if (strcmp(how, "none-vfork") == 0)
        give_up_in_vfork_child();
    else if (strncmp(how, "child-", 6) == 0)
        confine_a_child(how);
    else if (strcmp(how, "refused") != 0 && strcmp(how, "silent") != 0)
        CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    if (strcmp(how, "strict") == 0) {
        CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
    } else if (strcmp(how, "syscall") == 0) {
        CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
    } else if (strcmp(how, "refused") == 0) {
        struct sock_fprog none = {0, filter};
        EXPECT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &none) == -1 && errno == EINVAL);
        EXPECT(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &none) == -1 && errno == EINVAL);
    } else if (strncmp(how, "bare", 4) == 0 || strcmp(how, "silent") == 0) {
        CHECK(bare_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&program));
    } else if (strncmp(how, "none", 4) != 0 && strncmp(how, "child-", 6) != 0 &&
               strcmp(how, "ends-none") != 0) {
        CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
    }
    if (before)
        start_cuda();
    pairs(n);
    pairs_from_elsewhere(10);
    CUdeviceptr kept;
    CHECK(cuMemAlloc_v2(&kept, 12345));
    if (write(1, "done\n", 5) != 5)
        return 9;
    if (strcmp(how, "ends-clone") == 0)
        end_a_clone();
    if (strncmp(how, "ends-", 5) == 0) {
        end_a_child();
        for (;;)
            bare_call(SYS_kill, self, SIGKILL, 0);
    }
    if (strcmp(how, "strict") == 0)
        syscall(SYS_exit, 3);
    return 3;
}
