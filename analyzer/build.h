/* SPDX-License-Identifier: MIT */
/*
 * Log -> model, the one way: reader, replay, names, verdicts, in the order of the rooms. For the
 * commands (cmd_*.c), which hand the model, or the builder itself, to the rooms below.
 */
#ifndef VRAMTRACE_ANALYZER_BUILD_H
#define VRAMTRACE_ANALYZER_BUILD_H

#include "model/model.h"

/* Reads the logs and fills the model. 0, or -errno with `message` filled; a log that cannot be read
 * is an error, one that is damaged or unfinished is not. */
int vt_build_model(const char *const *logs, uint32_t log_count,
                   const struct vt_model_options *options, struct vt_model *model,
                   struct vt_string *message);
void vt_build_free(struct vt_model *model);

/* Both, for rooms that build models of logs which they find themselves (gate, run). */
extern const struct vt_model_builder vt_builder;

#endif
