/* SPDX-License-Identifier: MIT */
/*
 * One log -> one process of the model: build.c asks the rooms, for build_model.c.
 */
#ifndef VRAMTRACE_ANALYZER_BUILD_PROCESS_H
#define VRAMTRACE_ANALYZER_BUILD_PROCESS_H

#include "logfile/logfile.h"
#include "symbols/symbols.h"
#include "replay/replay.h"

/* What all logs of a model have in common. */
struct vt_build_names {
    struct vt_symbols *symbols;
    struct vt_classes *classes;
};

/* A process, and where its names are stored. */
struct vt_built {
    struct vt_process process;
    struct vt_stacks *stacks;
    struct vt_owner_names *owners;
    struct vt_symbols
        *symbols; /* of a log in a pack, by the answers there; NULL: those of the model */
};

/* Fills `built`. Returns 0, or -errno with `message`. Free it in either case. */
int vt_build_process(const char *path, const struct vt_model_options *options,
                     const struct vt_build_names *names, struct vt_built *built,
                     struct vt_string *message);
void vt_build_process_free(struct vt_built *built);

/* The same again and again, as the process runs: each goes on where the last one ended, and reads what was written
 * since, up to `until` (ns since the log began; UINT64_MAX: all). *follow is NULL after an error. */
int vt_build_follow(const char *path, const struct vt_model_options *options,
                    struct vt_follow **follow, struct vt_string *message);
int vt_build_go_on(struct vt_follow *follow, uint64_t until, const struct vt_build_names *names,
                   struct vt_built *built, struct vt_string *message);
const struct vt_model_options *vt_build_options(const struct vt_follow *follow);
void vt_build_unfollow(struct vt_follow *follow);

/* --- build_head.c --- */

/* Fills what the log's header and its gaps say of the process; its texts are the process's. */
void vt_build_head(const struct vt_log *log, struct vt_clock clock, const char *path,
                   struct vt_process *process);

/* --- build_notes.c --- */

/* `since`: only a part of the log is looked at, not from its begin on. */
void vt_build_notes(const struct vt_replay *r, bool since, struct vt_process *p);

#endif
