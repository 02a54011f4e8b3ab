/* SPDX-License-Identifier: MIT */
/*
 * The order of the sentences. build.c calls, when a process is judged.
 */
#include "parts.h"

void vt_evidence_write(struct vt_process *p) {
    vt_advice_add(p);
    vt_oom_advise(p);
}
