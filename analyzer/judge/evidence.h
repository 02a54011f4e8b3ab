/* SPDX-License-Identifier: MIT */
/*
 * Parts of the sentences that say why. For the files of this room alone.
 */
#ifndef VRAMTRACE_ANALYZER_EVIDENCE_H
#define VRAMTRACE_ANALYZER_EVIDENCE_H

#include "model/model.h"

/* lifetime.c: adds to the evidence that what is live has outlived all others of its site by far;
 * nothing where it has not. */
void vt_lifetime_say(const struct vt_site *site, struct vt_string *why);

/* diagnose.c: what the end of the books is, to stand behind "live": "when the process ended". */
const char *vt_diagnose_end(const struct vt_process *process);

/* diagnose.c: adds who took `went` blocks of `live`, where a context's end did: "; cuCtxDestroy took
 * them with their context". `by`: NULL: not known. */
void vt_diagnose_went(uint64_t went, uint64_t live, const char *by, struct vt_string *why);

#endif
