/* SPDX-License-Identifier: MIT */
/*
 * What memory without an owner was last seen in. For owners.c.
 */
#ifndef VRAMTRACE_ANALYZER_LAST_HOP_H
#define VRAMTRACE_ANALYZER_LAST_HOP_H

#include "judge.h"
#include "model/model.h"

/* Tells the sites for which a snapshot speaks what holds at least half of what has no owner. */
void vt_last_hops_tell(const struct vt_sources *from, const struct vt_replay_snapshot *snapshot,
                       const bool *speaks, struct vt_process *process);

#endif
