/* SPDX-License-Identifier: MIT */
/*
 * What the driver says that a process uses, less what the books have: contexts, code, pools' idle
 * reserve, and whatever went past the tracer. From the samples that `vramtrace run` took through
 * NVML. For build.c.
 */
#ifndef VRAMTRACE_ANALYZER_UNTRACKED_H
#define VRAMTRACE_ANALYZER_UNTRACKED_H

#include "log/clock.h"
#include "model/model.h"
#include "replay/replay.h"

/* The GPU of the machine that a process knows by this ordinal; NULL: it cannot be told, or no
 * sample was ever taken. */
const struct vt_log_gpu *vt_untracked_gpu(const struct vt_log *log, const struct vt_replay *replay,
                                          unsigned ordinal);

/* Fills in what the samples say of the device: name, size and UUID where the program never asked,
 * and the driver's figures. Its ordinal and peak_at must be set. True: the figures of this process
 * are known; false: driver_used_bytes, untracked_bytes and `untracked` stay unknown. */
bool vt_untracked_take(const struct vt_log *log, const struct vt_replay *replay,
                       struct vt_clock clock, struct vt_device *device);

/* The sample of the device's GPU that lies nearest to a moment, of those that the books can be
 * compared with; NULL: there is none. *tracked: what they had on the device then. */
const struct vt_replay_sample *vt_untracked_near(const struct vt_log *log,
                                                 const struct vt_replay *replay, unsigned ordinal,
                                                 uint64_t ticks, uint64_t *tracked);

#endif
