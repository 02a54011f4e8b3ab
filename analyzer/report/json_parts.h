/* SPDX-License-Identifier: MIT */
/*
 * Keys shared by several JSON outputs: the report (fmt_json*.c), watch and the gate. The man pages document them:
 * bytes and ns are whole numbers, unknown is null.
 */
#ifndef VRAMTRACE_ANALYZER_JSON_PARTS_H
#define VRAMTRACE_ANALYZER_JSON_PARTS_H

#include "model/model.h"

/* `name`: the key, or NULL in an array. */

/* A rank; null: unknown (negative). */
void vt_json_part_rank(struct vt_json *j, const char *name, int rank);

/* The number of a device; null: host memory, or unknown. */
void vt_json_part_ordinal(struct vt_json *j, const char *name, unsigned device);

/* "exit": {"kind", "status"}. */
void vt_json_part_ending(struct vt_json *j, struct vt_ending ending);

/* "unjudged": the sites for which it is unknown whether they leak, and their memory. */
void vt_json_part_inconclusive(struct vt_json *j, struct vt_inconclusive_sum sum);

/* A frame; NULL: null. `file`: its file, if not the frame's; without its offset if `stable`. */
void vt_json_part_frame(struct vt_json *j, const char *name, const struct vt_frame *f,
                        const char *file, bool stable);

/* "ranks": a job's processes together (fmt_json_ranks.c). NULL: null. */
void vt_json_part_ranks(struct vt_json *j, const struct vt_job *job);

/* "fingerprint": a stack key (model/stack_key.h), as in SARIF. */
void vt_json_part_fingerprint(struct vt_json *j, uint64_t key);

#endif
