/* SPDX-License-Identifier: MIT */
/*
 * What a refresh learns: models of the logs, up to what is written by now, compared with earlier ones. For live.c and
 * the writers.
 */
#ifndef VRAMTRACE_ANALYZER_SAMPLE_H
#define VRAMTRACE_ANALYZER_SAMPLE_H

#include "frame.h"

struct vt_sampler;

/* What is watched: words of the command line; none: the folder "." The arguments must outlive it. */
struct vt_sampler *vt_sample_open(char *const *words, int count,
                                  const struct vt_model_options *options,
                                  const struct vt_model_builder *builder);
void vt_sample_close(struct vt_sampler *sampler);

/* The next frame. Never NULL; free with vt_frame_free. */
struct vt_watch_frame *vt_sample_next(struct vt_sampler *sampler);

/* Whether nothing more is to come: every process has ended, and no log is waited for. */
bool vt_sample_is_over(const struct vt_watch_frame *frame);

#endif
