/* SPDX-License-Identifier: MIT */
/*
 * Phases that the program named, as a list in the model and as time limits for --since and --until.
 */
#ifndef VRAMTRACE_ANALYZER_PHASE_LIST_H
#define VRAMTRACE_ANALYZER_PHASE_LIST_H

#include "replay.h"

/* Finds a phase's time span in ticks: "eval" from the first start to the last end of that name, "eval#3" the third
 * of them. `count`: the number of phases with the name. Returns 0, or -EINVAL with a `message` about `option`, to
 * which `text` was given. */
int vt_phase_list_find(const struct vt_log *log, const char *option, const char *text,
                       struct vt_window *span, size_t *count, struct vt_string *message);

/* Adds the phases that overlap the window to the process, which frees them. */
void vt_phase_list_add(const struct vt_log *log, const struct vt_replay *replay,
                       struct vt_clock clock, struct vt_window window, struct vt_process *process);

/* --- window.c: --since, --until and --phase --- */

/* Fills `window`, in ticks, and the process's window_since and window_until, whose duration must be
 * set; adds notes about the choice. Returns 0, or -EINVAL with `message`. */
int vt_window_find(const struct vt_log *log, struct vt_clock clock,
                   const struct vt_model_options *options, struct vt_process *process,
                   struct vt_window *window, struct vt_string *message);

#endif
