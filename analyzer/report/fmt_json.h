/* SPDX-License-Identifier: MIT */
/*
 * The parts of the JSON format, for its files.
 */
#ifndef VRAMTRACE_ANALYZER_FMT_JSON_H
#define VRAMTRACE_ANALYZER_FMT_JSON_H

#include "json_parts.h"

/* fmt_json_owners.c: "snapshots" of a process; "used_for" of a device; "owners" of a site or a leak. */
void vt_fmt_json_purposes(struct vt_json *j, const struct vt_process *process,
                          const struct vt_device *device);
void vt_fmt_json_snapshots(struct vt_json *j, const struct vt_process *process);
void vt_fmt_json_owned(struct vt_json *j, const struct vt_owned_list *owned);

/* fmt_json_ranks.c: "ranks" of the whole; null without a job. */
void vt_fmt_json_ranks(struct vt_json *j, const struct vt_job *job);

#endif
