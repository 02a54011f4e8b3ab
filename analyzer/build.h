/* SPDX-License-Identifier: MIT */
/*
 * Logs -> model: reader, replay, names, verdicts, in the order of the rooms. For the commands
 * (cmd_*.c), which pass the model, or the builder itself, to the rooms below.
 */
#ifndef VRAMTRACE_ANALYZER_BUILD_H
#define VRAMTRACE_ANALYZER_BUILD_H

#include "model/model.h"

/* Reads the logs and fills the model. Returns 0, or -errno with `message`: a log that cannot be
 * read is an error, a damaged or unfinished one is not. Call vt_build_free only after 0. */
int vt_build_model(const char *const *logs, uint32_t log_count,
                   const struct vt_model_options *options, struct vt_model *model,
                   struct vt_string *message);
void vt_build_free(struct vt_model *model);

/* The same two functions, for rooms that find their logs themselves (gate, run). */
extern const struct vt_model_builder vt_builder;

#endif
