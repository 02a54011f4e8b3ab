/* SPDX-License-Identifier: MIT */
/*
 * One log -> one process of the model. build.c calls the modules that make it; build_model.c uses it.
 */
#ifndef VRAMTRACE_ANALYZER_BUILD_PROCESS_H
#define VRAMTRACE_ANALYZER_BUILD_PROCESS_H

#include "logfile/logfile.h"
#include "symbols/symbols.h"
#include "replay/replay.h"

/* Shared by all logs of a model. */
struct vt_build_names {
    struct vt_symbols *symbols;
    struct vt_classes *classes;
};

/* A process, and the storage of its names. */
struct vt_built {
    struct vt_process process;
    struct vt_stacks *stacks;
    struct vt_owner_names *owners;
    struct vt_symbols *symbols; /* a packed log's, with its answers; NULL: the model's are used */
};

/* Fills `built`. Returns 0, or -errno with `message`. Free it in either case. */
int vt_build_process(const char *path, const struct vt_model_options *options,
                     const struct vt_build_names *names, struct vt_built *built,
                     struct vt_string *message);
void vt_build_process_free(struct vt_built *built);

/* The same repeatedly, while the process runs: each vt_build_go_on reads the new records up to `until` (ns since the
 * log began; UINT64_MAX: all). *follow is NULL after an error. */
int vt_build_follow(const char *path, const struct vt_model_options *options,
                    struct vt_follow **follow, struct vt_string *message);
int vt_build_go_on(struct vt_follow *follow, uint64_t until, const struct vt_build_names *names,
                   struct vt_built *built, struct vt_string *message);
const struct vt_model_options *vt_build_options(const struct vt_follow *follow);
void vt_build_unfollow(struct vt_follow *follow);

/* --- build_head.c --- */

/* Fills the fields that come from the log's header and its gaps; the process owns the texts. */
void vt_build_head(const struct vt_log *log, struct vt_clock clock, const char *path,
                   struct vt_process *process);

/* --- build_notes.c --- */

/* `since`: the report does not cover the beginning of the log. */
void vt_build_notes(const struct vt_replay *r, bool since, struct vt_process *p);

#endif
