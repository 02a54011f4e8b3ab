/* SPDX-License-Identifier: MIT */
/*
 * Public header of analysis/: conclusions from the replay. Each file answers one question about a finished
 * replay, or about the model as far as it is filled, and writes the answer into the model, which
 * owns it. analysis.c has them in the order that they need. Nothing here fails.
 *
 *   verdicts.c       each site's verdict        leaks.c    failing sites, grouped
 *   growth*.c        what grows                 in_step.c  what rises together
 *   oom.c            where memory ran out       oom_cause.c    ... why
 *   oom_setting.c    ... and what a setting would do
 *   owners.c         what holds the memory      bound.c    what is kept by what has a bound
 *   fragmentation.c  reserved and not in use    untracked.c    what the driver says beyond the log
 *   lifetime.c       how long blocks lived      pytest_sites.c what the pytest plugin told
 *   helper_lines.c   through which line most of the memory comes
 *
 * Invariants: conclude only what the evidence shows, in kinds, figures and names; content/ makes sentences of
 * them. An unknown figure is VT_UNKNOWN. Uses base, log, model, replay and names.
 */
#ifndef VRAMTRACE_ANALYZER_ANALYSIS_H
#define VRAMTRACE_ANALYZER_ANALYSIS_H

#include "symbols/symbols.h"
#include "logfile/logfile.h"
#include "model/model.h"
#include "replay/replay.h"

/* What conclusions are drawn from, besides the model: a log, its books, the names in it. */
struct vt_sources {
    const struct vt_log *log;
    const struct vt_replay *replay;
    const struct vt_history *history;
    struct vt_clock clock;
    const uint32_t
        *index; /* a replay's site -> its index in vt_process.sites; VT_NO_SITE: left out */
    struct vt_window window;
    uint64_t end; /* ticks: of the process, of its log, or of the window */
    int device;   /* only this ordinal is asked for; -1: all */
    struct vt_stacks *stacks;
    const struct vt_classes *classes;
    struct vt_owner_names *names;
    struct vt_symbols *symbols;
};

/* Draw all conclusions, when a process has its sites, devices, objects and phases: fill its leaks, ooms and
 * snapshots, and the rest of its sites. The first reads single blocks, the second what the snapshots say: both may
 * be dropped then. */
void vt_analysis_blocks(const struct vt_sources *sources, struct vt_process *process);
void vt_analysis_snapshots(const struct vt_sources *sources, struct vt_process *process);
void vt_analysis_process(const struct vt_sources *sources, struct vt_process *process);

/* --- of a device, before its process is judged --- */

/* fragmentation.c: fills vt_device.fragmentation: memory that is reserved but not in use, at the
 * end, at its worst, over time; and the blocks that keep it reserved. */
void vt_fragmentation_measure(const struct vt_sources *sources, struct vt_device *device);

/* oom.c: an estimate of what other processes hold at a moment, in bytes, of memory that is used but
 * not tracked. The process's objects must be filled in. */
uint64_t vt_oom_others(const struct vt_process *process, unsigned device, uint64_t at,
                       uint64_t untracked_bytes, uint64_t total_bytes);

/* The number by which samples name the device's GPU. False: unknown. */
bool vt_untracked_gpu(const struct vt_sources *sources, unsigned ordinal, uint32_t *gpu);

/* untracked.c: fills the device from NVML's samples: name, size and UUID, unless they are known,
 * and the driver's figures. Its ordinal and peak_at must be set. Returns whether this process's own
 * figures are known; else driver_used_bytes, untracked_bytes and `untracked` stay unknown. */
bool vt_untracked_take(const struct vt_sources *sources, struct vt_device *device);

#include "draw.h"

#endif
