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

#endif
