/* SPDX-License-Identifier: MIT */
/*
 * Logs -> model: reader, replay, names, verdicts, in the order of the modules. For the commands (cmd_*.c), which pass
 * the model, or the builder itself, to modules.
 */
#ifndef VRAMTRACE_ANALYZER_BUILD_H
#define VRAMTRACE_ANALYZER_BUILD_H

#include "model/model.h"

/* Reads the logs and fills the model. Returns 0, or -errno with `message`: an unreadable log is an error, but a damaged
 * or unfinished log is not. Call vt_build_free only after 0. */
int vt_build_model(const char *const *logs, uint32_t log_count,
                   const struct vt_model_options *options, struct vt_model *model,
                   struct vt_string *message);
void vt_build_free(struct vt_model *model);

/* The same with model->job, for several logs. The model keeps at most `whole` processes, namely those that a report
 * shows in full; the others are only in the job and in model->apart. Unreadable logs are an error only if all logs are
 * unreadable; otherwise the job notes them. `only` filters the processes to keep; NULL: any. `options` and `logs` must
 * outlive the model. */
int vt_build_ranks(const char *const *logs, uint32_t log_count,
                   const struct vt_model_options *options, uint32_t whole,
                   bool (*only)(const struct vt_process *process, const void *what),
                   const void *what, struct vt_model *model, struct vt_string *message);

/* vt_build_model and vt_build_free, for modules that find their logs themselves (gate, run). */
extern const struct vt_model_builder vt_builder;

#endif
