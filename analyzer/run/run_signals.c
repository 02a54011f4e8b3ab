/* SPDX-License-Identifier: MIT */
/*
 * The witness (see run_signals.h).
 */
#define _GNU_SOURCE
#include "run_signals.h"

#include "base/base.h"
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A report of the witness: shorter than PIPE_BUF, so written atomically. */
struct report {
    int signal;
    uint64_t at_ns;
};

#define WAIT_MS  50
#define FRESH_NS 500000000ull /* older reports are about earlier signals */

void vt_run_signals_watched(sigset_t *set) {
    static const int watched[] = {SIGHUP,  SIGINT,   SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
                                  SIGALRM, SIGWINCH, SIGTSTP, SIGCONT, SIGCHLD};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof watched / sizeof watched[0]; i++)
        sigaddset(set, watched[i]);
}

/* Closes all descriptors but the pipe, so that a reader of the command's output sees its end. */
static void close_all_but(int fd) {
    dup2(fd, 0);
    vt_file_close_from(1);
}

static _Noreturn void stand_by(int fd, pid_t parent) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "vramtrace-sig");
    close_all_but(fd);
    if (getppid() != parent)
        _exit(0);
    for (;;) {
        struct report report = {.signal = sigwaitinfo(&all, NULL)};
        report.at_ns = vt_now_ns();
        if (report.signal > 0 && write(0, &report, sizeof report) < 0 && errno == EPIPE)
            _exit(0);
    }
}

void vt_run_signals_start(struct vt_run_witness *witness) {
    int ends[2];
    *witness = (struct vt_run_witness){.fd = -1};
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return;
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        stand_by(ends[1], parent);
    close(ends[1]);
    if (pid > 0)
        *witness = (struct vt_run_witness){.pid = pid, .fd = ends[0]};
    else
        close(ends[0]);
}

void vt_run_signals_stop(struct vt_run_witness *witness) {
    if (!witness->pid)
        return;
    kill(witness->pid, SIGKILL);
    while (waitpid(witness->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    close(witness->fd);
    *witness = (struct vt_run_witness){.fd = -1};
}

/* Whether the signal is still pending in the witness, which then has not run since. */
static bool is_pending(pid_t witness, int number) {
    char path[64], line[256];
    unsigned long long pending = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)witness);
    VT_SCOPED_FILE *status = fopen(path, "re");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "ShdPnd: %llx", &pending) == 1)
            break;
    return pending >> (number - 1) & 1;
}

bool vt_run_signals_alone(const struct vt_run_witness *witness, const siginfo_t *info) {
    if (info->si_code == SI_KERNEL) /* from the terminal, to the whole group */
        return false;
    if (!witness->pid)
        return true;
    struct pollfd wait = {.fd = witness->fd, .events = POLLIN};
    uint64_t start = vt_now_ns();
    /* On a busy machine the witness may run late. The last wait is for a report in transit. */
    for (int waits = 1; waits > 0;) {
        struct report report;
        if (poll(&wait, 1, WAIT_MS) <= 0) {
            waits = is_pending(witness->pid, info->si_signo) ? 2 : waits - 1;
            continue;
        }
        if (read(witness->fd, &report, sizeof report) != (ssize_t)sizeof report)
            return true; /* the witness is gone */
        if (report.signal == info->si_signo && report.at_ns + FRESH_NS > start)
            return false;
    }
    return true;
}
