/* SPDX-License-Identifier: MIT */
/*
 * Interfaces between the files of this module.
 */
#ifndef VRAMTRACE_ANALYZER_SENTENCES_H
#define VRAMTRACE_ANALYZER_SENTENCES_H

#include "content.h"

/* why.c, advice.c, oom.c: each writes all its sentences. */
void vt_why_write(struct vt_process *process);
void vt_advice_add(struct vt_process *process);
void vt_oom_write(struct vt_process *process);

/* owner_advice.c: advice about the owner of a leak. Free it. NULL: none. */
char *vt_owners_advise(const struct vt_process *process, const struct vt_leak *leak);
/* For kept objects that have memory: used if there is no more specific advice. */
char *vt_owners_advise_objects(const struct vt_leak *leak);
/* For views that keep much more than they show. */
char *vt_owners_advise_views(const struct vt_memory_owner *owner);

#endif
