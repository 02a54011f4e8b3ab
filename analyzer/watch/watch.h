/* SPDX-License-Identifier: MIT */
/*
 * Public header of watch/: the live view of running processes, from their logs alone.
 *
 * Invariants: the view does not touch the traced process, except to request a snapshot for the user. A refresh builds
 * new models; a frame has all data for the outputs. A frame's names are untrusted: only screen.c and the writers output
 * text, and they make it printable. Uses base, logfile, model and report; receives the builder as an argument.
 *
 *     frame.h         the data shown at one moment
 *     sources.h       the logs that are followed
 *     sample.h        the next frame: models, rates, courses
 *     watch_words.h   texts of a frame
 *     strips.h        numbers of a bar and of a course
 *     writers.h       a frame as plain text, JSON, Prometheus's format
 *     screen.h        drawing on a terminal
 *     view.h          the state of the screen, and keys
 */
#ifndef VRAMTRACE_ANALYZER_WATCH_H
#define VRAMTRACE_ANALYZER_WATCH_H

#include "model/model.h"

struct vt_watch_options {
    struct vt_model_options model;
    const struct vt_model_builder *builder;
    char *const *words; /* PIDs, logs, folders; none: the current folder */
    int word_count;
    uint64_t interval; /* minimum ns between refreshes */
    bool once, json;
    uint32_t top;           /* lines of a process; 0: the format's default */
    const char *prometheus; /* a file; NULL */
};

/* Runs the view until the user quits, or, without a terminal, until all processes have ended.
 * Returns the exit status. */
int vt_watch_run(const struct vt_watch_options *options);

#endif
