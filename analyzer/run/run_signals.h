/* SPDX-License-Identifier: MIT */
/*
 * Signals while a command runs: which of those that reach `vramtrace run` the command has got too.
 * For run_child.c.
 *
 * The command stays in our process group, so ^C, `timeout` and batch systems reach both of us, and
 * passing such a signal on would deliver it twice; one sent to our pid alone must be passed on.
 * The sender does not say which it was. So a witness stands beside us: a child in the same group
 * and the same control group that does nothing but say which signals reach it. What reached the
 * witness reached the command.
 */
#ifndef VRAMTRACE_ANALYZER_RUN_SIGNALS_H
#define VRAMTRACE_ANALYZER_RUN_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct vt_run_witness {
    pid_t pid; /* 0: none could be started */
    int fd;    /* what it says */
};

/* The signals that are passed on, and SIGCHLD. */
void vt_run_signals_watched(sigset_t *set);

/* Starts the witness; the watched signals must be blocked. Without one, every signal from another
 * process counts as sent to us alone. */
void vt_run_signals_start(struct vt_run_witness *witness);
void vt_run_signals_stop(struct vt_run_witness *witness);

/* Whether a signal that we took was sent to us alone. Waits up to 50 ms for the witness. */
bool vt_run_signals_alone(const struct vt_run_witness *witness, const siginfo_t *info);

#endif
