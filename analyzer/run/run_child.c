/* SPDX-License-Identifier: MIT */
/*
 * The traced command as a process (see run_child.h). One thread waits for signals with
 * sigtimedwait. There are no handlers, so the command inherits all dispositions unchanged, and
 * signals that were ignored when we started (nohup) stay ignored in the command.
 */
#define _GNU_SOURCE
#include "run_child.h"

#include "base/base.h"
#include "run_program.h"
#include "run_signals.h"
#include "vramtrace/ticks.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* --- is it traced --- */

/* Secure mode ignores LD_PRELOAD. The file was checked before the start; this check also includes effects of
 * security modules. */
static bool is_secure(pid_t pid) {
    VT_SCOPED_STRING auxv;
    bool secure = false;
    if (!vt_file_read_process((unsigned)pid, "auxv", &auxv))
        return false;
    for (size_t at = 0; at + 2 * sizeof(long) <= auxv.length; at += 2 * sizeof(long)) {
        unsigned long entry[2];
        memcpy(entry, auxv.text + at, sizeof entry);
        secure |= entry[0] == AT_SECURE && entry[1];
    }
    return secure;
}

/* Whether the process started with the library in LD_PRELOAD. */
static bool is_told(pid_t pid, const char *library) {
    VT_SCOPED_STRING environment;
    if (!vt_file_read_process((unsigned)pid, "environ", &environment))
        return false;
    const char *value = vt_file_variable(environment.text, environment.length, "LD_PRELOAD");
    return value && strstr(value, library);
}

/* Checks whether the tracer is loaded. The command may have executed another program, unpredictably: `env -i`, a
 * wrapper script, a static program. If the process cannot be read, or is just starting, `untraced` is unchanged. */
static void check_traced(const struct vt_run_plan *plan, struct vt_run_child *child) {
    const char *library = plan->libraries.tracer;
    VT_SCOPED_STRING maps;
    struct vt_string why = {0};
    char exe[64], program[4096];
    if (!vt_file_read_process((unsigned)child->pid, "maps", &maps))
        return;
    VT_SCOPED char *real = realpath(library, NULL); /* in case it was preloaded through a link */
    bool has_libc = strstr(maps.text, "/libc.so.6\n") != NULL;
    if (strstr(maps.text, real ? real : library)) {
        vt_string_free(&child->untraced);
        return;
    }
    snprintf(exe, sizeof exe, "/proc/%d/exe", (int)child->pid);
    ssize_t length = readlink(exe, program, sizeof program - 1);
    if (length < 0)
        return;
    program[length] = 0;
    bool secure = is_secure(child->pid);
    bool told = is_told(child->pid, library);
    if (vt_run_program_inspect(program, plan->options.simulated, &why) == 0) {
        vt_string_free(&why);
        /* the loader maps preloads before libc, so without both, loading is not finished */
        if (told && !secure && !has_libc)
            return;
        vt_string_format(&why, "cannot trace %s (pid %d): %s", program, (int)child->pid,
                         secure ? "the system started it in secure mode, which ignores LD_PRELOAD"
                         : told ? "LD_PRELOAD was ignored"
                                : "LD_PRELOAD was removed from its environment before it started");
    }
    vt_string_free(&child->untraced);
    child->untraced = why;
}

/* When to check, in ms after the start; few checks, so that their cost is negligible. */
static const unsigned looks[] = {100, 300, 1000, 5000, 30000};
#define LOOKS (sizeof looks / sizeof looks[0])

/* --- start --- */

/* Signals that were ignored when this program started; the command ignores them as well. Our own dispositions
 * differ: with SIGCHLD ignored, the kernel drops exit statuses; a closed pipe or the file size limit must not end
 * us. */
static struct { bool chld_ignored, pipe_ignored, size_ignored; } found;

void vt_run_child_set_signals(void) {
    found.chld_ignored = signal(SIGCHLD, SIG_DFL) == SIG_IGN;
    found.pipe_ignored = signal(SIGPIPE, SIG_IGN) == SIG_IGN;
    found.size_ignored = signal(SIGXFSZ, SIG_IGN) == SIG_IGN;
}

/* In the child: execs like execvp, but the file that was checked. On failure writes errno to `fd`. */
static _Noreturn void become(const struct vt_run_plan *plan, const sigset_t *mask, int fd) {
    const char *path = plan->program;
    char **argv = plan->argv;
    if (found.chld_ignored)
        signal(SIGCHLD, SIG_IGN);
    if (!found.pipe_ignored)
        signal(SIGPIPE, SIG_DFL);
    if (!found.size_ignored)
        signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execv(path, argv);
    int error = errno;
    char magic[4] = "";
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? 0 : read(file, magic, sizeof magic);
    if (error == ENOEXEC && !(got == 4 && !memcmp(magic, ELFMAG, SELFMAG))) {
        /* a script without a "#!" line */
        size_t count = 0;
        while (argv[count])
            count++;
        char **with_shell = vt_alloc(count + 2, sizeof *with_shell);
        with_shell[0] = argv[0];
        with_shell[1] = vt_strdup(path);
        for (size_t i = 1; i < count; i++)
            with_shell[i + 1] = argv[i];
        execv("/bin/sh", with_shell);
        error = errno;
    }
    while (write(fd, &error, sizeof error) < 0 && errno == EINTR)
        ;
    _exit(VT_STATUS_NOT_EXECUTABLE);
}

/* Returns 0, or errno of the fork or the exec. */
static int start(const struct vt_run_plan *plan, const sigset_t *mask, struct vt_run_child *child) {
    int ends[2], error = 0;
    if (pipe2(ends, O_CLOEXEC))
        return errno;
    fflush(NULL);
    child->pid = fork();
    if (child->pid == 0)
        become(plan, mask, ends[1]);
    error = child->pid < 0 ? errno : 0;
    close(ends[1]);
    if (child->pid > 0) {
        char state;
        child->started = vt_file_process_started((unsigned)child->pid, &state);
        ssize_t got;
        while ((got = read(ends[0], &error, sizeof error)) < 0 && errno == EINTR)
            ;
        if (got > 0)
            waitpid(child->pid, NULL, 0);
        else
            error = 0;
    }
    close(ends[0]);
    return error;
}

/* --- wait --- */

/* Stops as shells expect of a job: by SIGTSTP, which an orphaned group ignores. */
static void stop_here(void) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGTSTP);
    raise(SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &one, NULL); /* stops here, until SIGCONT */
    sigprocmask(SIG_BLOCK, &one, NULL);
}

static void deal_with(const siginfo_t *info, const struct vt_run_child *child,
                      const struct vt_run_witness *witness) {
    bool alone = vt_run_signals_alone(witness, info);
    /* A command with its own group (a shell with job control) did not get the signal. */
    if (!alone && info->si_code != SI_KERNEL && getpgid(child->pid) != getpgrp())
        alone = true;
    if (alone && info->si_pid != child->pid)
        kill(child->pid, info->si_signo);
    if (info->si_signo == SIGTSTP)
        stop_here();
}

/* Kills the process and all descendants that can be found, parents first, so that they start no more children. */
static void kill_tree(pid_t pid) {
    VT_SCOPED_STRING children;
    char name[64];
    kill(pid, SIGSTOP);
    snprintf(name, sizeof name, "task/%d/children", (int)pid);
    bool read = vt_file_read_process((unsigned)pid, name, &children);
    kill(pid, SIGKILL);
    for (char *at = children.text, *end; read && at && *at; at = end) {
        long child = strtol(at, &end, 10);
        if (end == at)
            break;
        if (child > 1)
            kill_tree((pid_t)child);
    }
}

static void wait_for(const struct vt_run_plan *plan, struct vt_run_child *child,
                     const struct vt_run_witness *witness) {
    sigset_t watched;
    vt_run_signals_watched(&watched);
    uint64_t begun = vt_now_ns();
    int status = 0;
    for (size_t next = 0;;) {
        pid_t done = waitpid(child->pid, &status, WNOHANG);
        if (done == child->pid || (done < 0 && errno != EINTR))
            break;
        uint64_t passed = (vt_now_ns() - begun) / 1000000u;
        if (next < LOOKS && passed >= looks[next]) {
            check_traced(plan, child);
            next++;
            continue;
        }
        uint64_t left = next < LOOKS ? looks[next] - passed : 3600000u;
        if (child->timeout_ms && !child->timed_out) {
            if (passed >= child->timeout_ms) {
                child->timed_out = true;
                kill_tree(child->pid);
            } else if (left > child->timeout_ms - passed) {
                left = child->timeout_ms - passed;
            }
        }
        struct timespec timeout = {(time_t)(left / 1000), (long)(left % 1000) * 1000000};
        siginfo_t info;
        int signal = sigtimedwait(&watched, &info, &timeout);
        if (signal > 0 && signal != SIGCHLD)
            deal_with(&info, child, witness);
    }
    child->ended_ns = vt_now_ns();
    child->ended_tsc = vt_ticks();
    child->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    child->status = child->signal ? 128 + child->signal : WEXITSTATUS(status);
}

/* NVIDIA's runtime checks whether the driver is NVIDIA's; the simulated driver noted who checked. */
static void note_refusal(struct vt_run_child *child) {
    const char *share = getenv("VRAMTRACE_SIM_SHARE");
    char library[PATH_MAX];
    if (!share || !*share)
        return;
    VT_SCOPED char *path = vt_formatted("%s.refused", share);
    VT_SCOPED_FD fd = vt_file_open_as(path, O_NOFOLLOW, NULL);
    ssize_t got = fd >= 0 ? read(fd, library, sizeof library - 1) : -1;
    if (got <= 0)
        return;
    library[got] = 0;
    vt_string_format(
        &child->refused,
        "cannot run %s on the simulated GPU: NVIDIA's CUDA runtime in it needs a real "
        "one; build it with -cudart shared (CMake: CMAKE_CUDA_RUNTIME_LIBRARY=Shared), "
        "or run on a GPU, without --sim",
        library);
}

int vt_run_child_run(const struct vt_run_plan *plan, struct vt_run_child *child,
                     struct vt_string *message) {
    struct vt_run_witness witness;
    sigset_t watched, mask;
    *child = (struct vt_run_child){.timeout_ms = child->timeout_ms};
    vt_run_signals_watched(&watched);
    sigprocmask(SIG_BLOCK, &watched, &mask);
    vt_run_signals_start(&witness); /* first, so that it gets every signal that the command gets */
    int error = start(plan, &mask, child);
    if (!error)
        wait_for(plan, child, &witness);
    vt_run_signals_stop(&witness);
    /* If someone signals each process separately, the signal may reach us after the command died of it. It must not
     * end us before the report. */
    if (!error && child->signal && sigismember(&watched, child->signal) == 1)
        signal(child->signal, SIG_IGN);
    while (sigtimedwait(&watched, NULL, &(struct timespec){0}) > 0)
        ;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (!error && plan->options.simulated)
        note_refusal(child);
    if (!error)
        return 0;
    vt_string_format(message, "%s: cannot be executed: %s", plan->program, strerror(error));
    return error == ENOENT ? VT_STATUS_NOT_FOUND : VT_STATUS_NOT_EXECUTABLE;
}
