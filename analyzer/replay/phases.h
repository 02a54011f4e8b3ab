/* SPDX-License-Identifier: MIT */
/*
 * Phases that the program named: as the model shows them, as moments for --since and --until, and
 * as the iterations that growth is measured by.
 */
#ifndef VRAMTRACE_ANALYZER_PHASES_H
#define VRAMTRACE_ANALYZER_PHASES_H

#include "log/log.h"
#include "model/model.h"
#include "replay.h"

/* A phase name, or a mark, that repeats. */
struct vt_iterations {
    uint32_t name;    /* of vt_log.names; where count is 0 the program marked none */
    uint64_t *begins; /* ticks, in order */
    size_t count;
    uint64_t end; /* ticks at which the last ended */
    bool shared;  /* several threads have them, in an order that is another in each run */
};

/* Chooses them: of the thread that records most, the outermost name that repeats often enough to
 * show a trend; then its repetitions on all threads. Free with vt_phases_iterations_free. */
void vt_phases_iterations(const struct vt_log *log, struct vt_iterations *iterations);
void vt_phases_iterations_free(struct vt_iterations *iterations);

/* A stretch of the run by name: "eval": from its first begin to its last end; "eval#3": the third
 * of that name, in order of begin. Ticks; `count`: how many there are of the name. 0, or -EINVAL
 * with `message`: `option` is where the text was given. */
int vt_phases_find(const struct vt_log *log, const char *option, const char *text,
                   struct vt_window *span, size_t *count, struct vt_string *message);

/* Fills the process's phases: those that overlap the window. */
void vt_phases_take(const struct vt_log *log, const struct vt_replay *replay, struct vt_clock clock,
                    struct vt_window window, struct vt_process *process);

#endif
