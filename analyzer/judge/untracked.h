/* SPDX-License-Identifier: MIT */
/*
 * Untracked memory: what the driver says that the process uses, minus what the log has. It consists
 * of contexts, code, the idle reserve of pools, and allocations that the tracer missed. The figures
 * come from the samples that `vramtrace run` took through NVML. For oom.c; build.c uses judge.h.
 */
#ifndef VRAMTRACE_ANALYZER_UNTRACKED_H
#define VRAMTRACE_ANALYZER_UNTRACKED_H

#include "judge.h"

/* The sample of the device's GPU nearest to a moment, among those that can be compared with the
 * books; NULL: none. It belongs to `replay`. *tracked: the bytes in the books at that time. */
const struct vt_replay_sample *vt_untracked_near(const struct vt_sources *sources, unsigned ordinal,
                                                 uint64_t ticks, uint64_t *tracked);

#endif
