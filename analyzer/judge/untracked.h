/* SPDX-License-Identifier: MIT */
/*
 * What the driver says that a process uses, less what the books have: contexts, code, pools' idle
 * reserve, and whatever went past the tracer. From the samples that `vramtrace run` took through
 * NVML. For oom.c; judge.h has what build.c asks.
 */
#ifndef VRAMTRACE_ANALYZER_UNTRACKED_H
#define VRAMTRACE_ANALYZER_UNTRACKED_H

#include "log/log.h"
#include "model/model.h"
#include "replay/replay.h"

/* The sample of the device's GPU that lies nearest to a moment, of those that the books can be
 * compared with; NULL: there is none. *tracked: what they had on the device then. */
const struct vt_replay_sample *vt_untracked_near(const struct vt_log *log,
                                                 const struct vt_replay *replay, unsigned ordinal,
                                                 uint64_t ticks, uint64_t *tracked);

#endif
