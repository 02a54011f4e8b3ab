/* SPDX-License-Identifier: MIT */
/*
 * Phases that the program named: as a list in the model, as moments for --since and --until, and as
 * the iterations by which growth is measured.
 */
#ifndef VRAMTRACE_ANALYZER_PHASES_H
#define VRAMTRACE_ANALYZER_PHASES_H

#include "replay.h"

/* A phase or a mark that repeats. */
struct vt_iterations {
    uint32_t name;    /* index in vt_log.names */
    uint64_t *begins; /* ticks, in order */
    size_t count;     /* 0: the program marked no iterations */
    uint64_t end;     /* ticks at which the last ended */
    bool shared;      /* several threads have them, so their order varies from run to run */
};

/* Chooses the iterations: on the thread with the most events, the outermost name that repeats often
 * enough to show a trend; then its repetitions on all threads. Always free `iterations`. */
void vt_phases_iterations(const struct vt_log *log, struct vt_iterations *iterations);
void vt_phases_iterations_free(struct vt_iterations *iterations);

/* Finds a phase's time span in ticks: "eval" from the first begin to the last end of that name,
 * "eval#3" the third of them. `count`: how many phases have the name. Returns 0, or -EINVAL with a
 * `message` about `option`, the option that had `text`. */
int vt_phases_find(const struct vt_log *log, const char *option, const char *text,
                   struct vt_window *span, size_t *count, struct vt_string *message);

/* Adds the phases that overlap the window to the process, which owns them. */
void vt_phases_take(const struct vt_log *log, const struct vt_replay *replay, struct vt_clock clock,
                    struct vt_window window, struct vt_process *process);

/* --- window.c: --since, --until and --phase --- */

/* Fills `window`, in ticks, and the process's window_since and window_until, whose duration must be
 * set; adds notes about the choice. Returns 0, or -EINVAL with `message`. */
int vt_window_find(const struct vt_log *log, struct vt_clock clock,
                   const struct vt_model_options *options, struct vt_process *process,
                   struct vt_window *window, struct vt_string *message);

#endif
