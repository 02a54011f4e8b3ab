/* SPDX-License-Identifier: MIT */
/*
 * A process beside the command (see run_beside.h). The work has its own process because a hanging driver, a crashing
 * library or a slow disk must not keep `run` from handling signals.
 */
#define _GNU_SOURCE
#include "run_beside.h"

#include "run_list.h"
#include "run_places.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    STOP_MS = 1000, /* to wait for its end: it may hang in the driver */
    IDLE_MS = 200,  /* if inotify cannot watch the lists */
};

struct beside {
    const struct vt_run_care *care;
    void *of;
};

static void add(void *of, const char *line) {
    const struct beside *b = of;
    if (*line == '/')
        b->care->add(b->of, line);
}

/* Closes the run's descriptors, so that a reader of the command's output sees its end. */
static void close_all(bool keeps_stderr) {
    bool keeps = keeps_stderr && fcntl(2, F_GETFD) >= 0;
    vt_file_close_from(keeps ? 3 : 2);
    close(0);
    if (open("/dev/null", O_RDWR) == 0) {
        dup2(0, 1);
        dup2(keeps ? 2 : 0, 2);
    }
}

static _Noreturn void go_on(const struct vt_run_care *care, void *of, const char *path,
                            pid_t parent) {
    struct beside beside = {care, of};
    struct vt_run_list list = {.path = path};
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, care->name);
    close_all(care->keeps_stderr);
    if (getppid() != parent)
        _exit(0);
    int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    VT_SCOPED char *folder = vt_run_places_folder(path);
    bool watched =
        watch >= 0 && inotify_add_watch(watch, folder, IN_CREATE | IN_MODIFY | IN_DELETE) >= 0;
    for (;;) {
        char events[4096];
        while (watched && read(watch, events, sizeof events) > 0)
            ;
        if (!vt_run_list_read(&list, add, &beside))
            _exit(0); /* the run is over */
        uint64_t next = care->work(of, vt_now_ns()), now = vt_now_ns();
        if (next <= now)
            continue;
        uint64_t wait = next == UINT64_MAX ? UINT64_MAX : (next - now) / 1000000u + 1;
        struct pollfd change = {.fd = watch, .events = POLLIN};
        int ms = wait < 3600000u ? (int)wait : wait < UINT64_MAX ? 3600000 : -1;
        poll(&change, watched ? 1 : 0, watched || (ms >= 0 && ms < IDLE_MS) ? ms : IDLE_MS);
    }
}

void vt_run_beside_start(struct vt_run_beside *beside, const struct vt_run_care *care, void *of,
                         const char *list) {
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        go_on(care, of, list, parent);
    beside->pid = pid > 0 ? pid : 0;
}

void vt_run_beside_stop(struct vt_run_beside *beside) {
    if (!beside->pid)
        return;
    kill(beside->pid, SIGKILL);
    for (int i = 0; i < STOP_MS; i++) {
        pid_t done = waitpid(beside->pid, NULL, WNOHANG);
        if (done == beside->pid || (done < 0 && errno != EINTR))
            break;
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    beside->pid = 0;
}
