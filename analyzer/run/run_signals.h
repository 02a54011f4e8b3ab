/* SPDX-License-Identifier: MIT */
/*
 * Signals while a command runs: finds out which signals to `vramtrace run` the command also got. For run_child.c.
 *
 * The command is in our process group, so signals from ^C, `timeout` and batch systems reach both processes, and
 * passing them on would deliver them twice. But a signal that was sent only to our pid must be passed on. A signal does
 * not show how it was sent, so there is a witness: a child in the same process group and cgroup that only reports which
 * signals reach it. A signal that reached the witness also reached the command.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_SIGNALS_H
#define VRAMTRACE_ANALYZER_RUN_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct vt_run_witness {
    pid_t pid; /* 0: not started */
    int fd;    /* its reports */
};

/* Fills `set` with the signals to pass on, and SIGCHLD. */
void vt_run_signals_watched(sigset_t *set);

/* Starts the witness; the watched signals must be blocked. If it cannot be started, every signal from another
 * process counts as sent only to us. */
void vt_run_signals_start(struct vt_run_witness *witness);
void vt_run_signals_stop(struct vt_run_witness *witness);

/* Whether a signal was sent only to us. Waits up to 50 ms for the witness. */
bool vt_run_signals_alone(const struct vt_run_witness *witness, const siginfo_t *info);

#endif
