/* SPDX-License-Identifier: MIT */
/*
 * What the files of this room ask each other.
 */
#ifndef VRAMTRACE_ANALYZER_SENTENCES_H
#define VRAMTRACE_ANALYZER_SENTENCES_H

#include "content.h"

/* why.c, advice.c, oom.c: each writes all that it says. */
void vt_why_write(struct vt_process *process);
void vt_advice_add(struct vt_process *process);
void vt_oom_write(struct vt_process *process);

/* owner_advice.c: what to do about what keeps a leak. Free it. NULL: unknown. */
char *vt_owners_advise(const struct vt_process *process, const struct vt_leak *leak);
/* For objects that are kept, each with memory: asked when nothing more particular is known. */
char *vt_owners_advise_objects(const struct vt_leak *leak);
/* For views that keep much more than they see. */
char *vt_owners_advise_views(const struct vt_memory_owner *owner);

#endif
