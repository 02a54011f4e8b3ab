/* SPDX-License-Identifier: MIT */
/*
 * The questions asked of a finished replay, one file each. model.c asks them in this order.
 */
#ifndef VRAMTRACE_ANALYZER_DIAGNOSE_H
#define VRAMTRACE_ANALYZER_DIAGNOSE_H

#include "model.h"
#include "replay.h"

/* fragmentation.c: how much of a device's memory is reserved and not in use, in how many pieces. */
void vt_fragmentation_measure(const struct vt_log *log, const struct vt_replay *replay,
                              struct vt_device *device);

/* oom.c: fills cause, why and advice of each failed allocation from what is known. */
void vt_oom_explain(struct vt_process *process);

/* diagnose.c: gives every site its verdict, and gathers the failing ones into leaks. */
void vt_diagnose_sites(struct vt_process *process);

#endif
