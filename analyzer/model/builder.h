/* SPDX-License-Identifier: MIT */
/*
 * The options of a model, and its builder. model.h includes it.
 */
#ifndef VRAMTRACE_ANALYZER_BUILDER_H
#define VRAMTRACE_ANALYZER_BUILDER_H

#include "model.h"

struct vt_follow; /* a log that is followed: see vt_model_builder */

/* The part of the logs to use. Initialize as {.device = -1}. */
struct vt_model_options {
    const char *since, *until;    /* "90s", "80%", "epoch#3"; NULL: from the start, to the end */
    const char *phase;            /* only during this phase: a name, or "name#3"; NULL */
    int device;                   /* only this ordinal; -1: all */
    const char *const *user_code; /* patterns of user code, NULL-terminated; NULL: none */
    bool source;                  /* show source lines although a log belongs to another user */
    const char *classes;          /* a file with more rows for classes.def; NULL: none */
    unsigned timeline;            /* enum vt_timeline_part: data for pictures */
    bool once;                    /* for a followed log: only one model, up to now */
    /* symbols from earlier models, must outlive the model; NULL: none */
    struct vt_symbols *symbols;
};

/* Builds and frees a model of logs. Modules that need models receive the builder as an argument, as they must not
 * depend on build.c. `build` returns 0, or -errno with `message`; call `free` only after 0. */
struct vt_model_builder {
    int (*build)(const char *const *logs, uint32_t log_count,
                 const struct vt_model_options *options, struct vt_model *model,
                 struct vt_string *message);
    void (*free)(struct vt_model *model);
    /* Build models of one log repeatedly while its process runs: each continues after the last one, up to `until` (ns
     * since the log began; UINT64_MAX: the end of the log). *follow is NULL after an error. Models outlive it. */
    int (*follow)(const char *log, const struct vt_model_options *options,
                  struct vt_follow **follow, struct vt_string *message);
    int (*go_on)(struct vt_follow *follow, uint64_t until, struct vt_model *model,
                 struct vt_string *message);
    void (*unfollow)(struct vt_follow *follow);
};

#endif
