/* SPDX-License-Identifier: MIT */
/*
 * The parts of the JSON format, for its files.
 */
#ifndef VRAMTRACE_ANALYZER_FMT_JSON_H
#define VRAMTRACE_ANALYZER_FMT_JSON_H

#include "json_parts.h"

/* fmt_json_ranks.c: "ranks" of the whole; null without a job. */
void vt_fmt_json_ranks(struct vt_json *j, const struct vt_job *job);

#endif
