/* SPDX-License-Identifier: MIT */
/*
 * Which part of the run counts: what the user asked for, in ticks. For build.c.
 */
#ifndef VRAMTRACE_ANALYZER_WINDOW_H
#define VRAMTRACE_ANALYZER_WINDOW_H

#include "log/log.h"
#include "model/model.h"
#include "replay.h"

/* Reads the options' since, until and phase; fills the process's window_since and window_until (its
 * duration must be set), and notes what a reader must know of the choice. 0, or -EINVAL with
 * `message`. */
int vt_window_find(const struct vt_log *log, struct vt_clock clock,
                   const struct vt_model_options *options, struct vt_process *process,
                   struct vt_window *window, struct vt_string *message);

#endif
