/* SPDX-License-Identifier: MIT */
/*
 * Public header of watch/: the live view of running processes, from their logs alone.
 *
 * Invariants: the traced process is not touched, except when the user asks for a snapshot. A refresh builds
 * the models anew; what all outputs show is in a frame. Names in it are hostile: only screen.c and the
 * writers let text out, and they make it printable. Uses base, log, model and report; it is handed the
 * builder.
 *
 *     frame.h         what is shown at one moment
 *     sources.h       which logs are followed
 *     sample.h        the next frame: models, rates, courses
 *     watch_words.h   texts of a frame
 *     strips.h        numbers of a bar and of a course
 *     writers.h       a frame as plain text, JSON, Prometheus's format
 *     screen.h        drawing on a terminal
 *     view.h          what of a frame is on the screen, and what keys do
 */
#ifndef VRAMTRACE_ANALYZER_WATCH_H
#define VRAMTRACE_ANALYZER_WATCH_H

#include "model/model.h"

struct vt_watch_options {
    struct vt_model_options model;
    const struct vt_model_builder *builder;
    char *const *words; /* PIDs, logs, folders; none: the folder here */
    int word_count;
    uint64_t interval; /* ns between refreshes, at least */
    bool once, json;
    uint32_t top;           /* lines of a process; 0: the format's default */
    const char *prometheus; /* a file; NULL */
};

/* Runs the view until the user quits, or, without a terminal, until all processes have ended.
 * Returns the exit status. */
int vt_watch_run(const struct vt_watch_options *options);

#endif
