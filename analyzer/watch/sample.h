/* SPDX-License-Identifier: MIT */
/*
 * Produces frames: models of the logs up to now, compared with earlier models. For live.c and the writers.
 */
#ifndef VRAMTRACE_ANALYZER_SAMPLE_H
#define VRAMTRACE_ANALYZER_SAMPLE_H

#include "frame.h"

struct vt_sampler;

/* `words`: the arguments of the command line; none: the folder "." They must outlive it. */
struct vt_sampler *vt_sample_open(char *const *words, int count,
                                  const struct vt_model_options *options,
                                  const struct vt_model_builder *builder);
void vt_sample_close(struct vt_sampler *sampler);

/* The next frame. Never NULL; free with vt_frame_free. */
struct vt_watch_frame *vt_sample_next(struct vt_sampler *sampler);

/* Whether all processes have ended, and no log is still to come. */
bool vt_sample_is_over(const struct vt_watch_frame *frame);

#endif
