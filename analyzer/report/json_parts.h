/* SPDX-License-Identifier: MIT */
/*
 * Keys that several JSON outputs have in common: the report (fmt_json*.c), watch and the gate. The man pages
 * document them: bytes and ns are whole numbers, unknown is null.
 */
#ifndef VRAMTRACE_ANALYZER_JSON_PARTS_H
#define VRAMTRACE_ANALYZER_JSON_PARTS_H

#include "model/model.h"

/* `name`: the key, or NULL in an array. */

/* A rank; null: unknown, which is negative. */
void vt_json_part_rank(struct vt_json *j, const char *name, int rank);

/* The number of a device; null: host memory, or unknown. */
void vt_json_part_ordinal(struct vt_json *j, const char *name, unsigned device);

/* "exit": {"kind", "status"}. */
void vt_json_part_ending(struct vt_json *j, struct vt_ending ending);

/* "unjudged": the sites of which it is open whether they leak, and what they hold. */
void vt_json_part_inconclusive(struct vt_json *j, struct vt_inconclusive_sum sum);

/* "fingerprint": a stack key (model/stack_key.h), as SARIF has it. */
void vt_json_part_fingerprint(struct vt_json *j, uint64_t key);

/* "bound": how many entries what keeps a site or a leak has and takes; NULL: it has no bound. */
void vt_json_part_bound(struct vt_json *j, const struct vt_bound *bound);

/* An object for memory of no device: "pinned_host", "managed". */
void vt_json_part_apart(struct vt_json *j, const char *name, const struct vt_apart *apart);

/* Into an open object: what a device is, holds and counted; a failed allocation; the beginning of a phase. */
void vt_json_part_device(struct vt_json *j, const struct vt_device *device);
void vt_json_part_oom(struct vt_json *j, const struct vt_oom *oom);
void vt_json_part_phase(struct vt_json *j, const struct vt_phase *phase);

#endif
