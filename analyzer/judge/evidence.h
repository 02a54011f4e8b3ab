/* SPDX-License-Identifier: MIT */
/*
 * Parts of the sentences of evidence. For this room alone.
 */
#ifndef VRAMTRACE_ANALYZER_EVIDENCE_H
#define VRAMTRACE_ANALYZER_EVIDENCE_H

#include "model/model.h"

/* lifetime.c: adds to `why` that the live blocks are far older than the freed ones ever became, if
 * they are. */
void vt_lifetime_say(const struct vt_site *site, struct vt_string *why);

/* verdicts.c: phrase for how the log ended, as in "live when the process ended". A constant. */
const char *vt_verdicts_end(const struct vt_process *process);

/* verdicts.c: adds who took `went` blocks of `live`, where a context's end did: "; cuCtxDestroy took
 * them with their context". `by`: NULL: not known. */
void vt_verdicts_went(uint64_t went, uint64_t live, const char *by, struct vt_string *why);

#endif
