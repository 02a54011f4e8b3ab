/* SPDX-License-Identifier: MIT */
/*
 * --since, --until and --phase as a window of the run. For build.c.
 */
#ifndef VRAMTRACE_ANALYZER_WINDOW_H
#define VRAMTRACE_ANALYZER_WINDOW_H

#include "replay.h"

/* Fills `window`, in ticks, and the process's window_since and window_until, whose duration must be
 * set; adds notes about the choice. Returns 0, or -EINVAL with `message`. */
int vt_window_find(const struct vt_log *log, struct vt_clock clock,
                   const struct vt_model_options *options, struct vt_process *process,
                   struct vt_window *window, struct vt_string *message);

#endif
