/* SPDX-License-Identifier: MIT */
/*
 * One log -> one process of the model: build.c asks the rooms, for build_model.c.
 */
#ifndef VRAMTRACE_ANALYZER_BUILD_PROCESS_H
#define VRAMTRACE_ANALYZER_BUILD_PROCESS_H

#include "log/log.h"
#include "names/names.h"

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

/* --- build_head.c --- */

/* Fills what the log's header and its gaps say of the process; its texts are the process's. */
void vt_build_head(const struct vt_log *log, struct vt_clock clock, const char *path,
                   struct vt_process *process);

#endif
