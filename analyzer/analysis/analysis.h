/* SPDX-License-Identifier: MIT */
/*
 * Public header of analysis/: conclusions from the replay. Each file answers one question about a finished replay, or
 * about the part of the model filled so far, and writes the answer into the model, which owns it. analysis.c calls the
 * files in the order of their dependencies. Nothing here fails.
 *
 *   verdicts.c       each site's verdict        leaks.c    failing sites, grouped
 *   growth*.c        growing sites              in_step.c  sites that rise together
 *   oom.c            where memory ran out       oom_cause.c    why it ran out
 *   oom_setting.c    a setting that would have helped
 *   owners.c         owners of the memory       bound.c    sites kept by bounded owners
 *   fragmentation.c  reserved, not in use       untracked.c    the driver's figure beyond the log's
 *   lifetime.c       how long blocks lived      pytest_sites.c the pytest plugin's findings
 *   helper_lines.c   the line that most of the memory comes through
 *
 * Invariants: conclude only what the evidence shows, in kinds, figures and names; content/ writes the sentences. An
 * unknown figure is VT_UNKNOWN. Uses base, logfile, model, symbols and replay.
 */
#ifndef VRAMTRACE_ANALYZER_ANALYSIS_H
#define VRAMTRACE_ANALYZER_ANALYSIS_H

#include "symbols/symbols.h"
#include "logfile/logfile.h"
#include "model/model.h"
#include "replay/replay.h"

/* The input besides the model: a log, its replay, its names. */
struct vt_sources {
    const struct vt_log *log;
    const struct vt_replay *replay;
    const struct vt_history *history;
    struct vt_clock clock;
    const uint32_t
        *index; /* a replay's site -> its index in vt_process.sites; VT_NO_SITE: excluded */
    struct vt_window window;
    uint64_t end; /* in ticks: the end of the process, its log, or the window */
    int device;   /* only this ordinal; -1: all */
    struct vt_stacks *stacks;
    const struct vt_classes *classes;
    struct vt_owner_names *names;
    struct vt_symbols *symbols;
};

/* Draw all conclusions once a process has its sites, devices, objects and phases: they fill its leaks, ooms, snapshots
 * and the rest of its sites. The caller may free the blocks after the first call, the snapshots' records after the
 * second. */
void vt_analysis_blocks(const struct vt_sources *sources, struct vt_process *process);
void vt_analysis_snapshots(const struct vt_sources *sources, struct vt_process *process);
void vt_analysis_process(const struct vt_sources *sources, struct vt_process *process);

/* --- for a device, before its process is analyzed --- */

/* fragmentation.c: fills vt_device.fragmentation: reserved memory that is not in use (at the end, at its worst, over
 * time), and the blocks that keep it reserved. */
void vt_fragmentation_measure(const struct vt_sources *sources, struct vt_device *device);

/* oom.c: estimates how many of the untracked bytes at a moment belong to other processes. The process's objects must be
 * filled in. */
uint64_t vt_oom_others(const struct vt_process *process, unsigned device, uint64_t at,
                       uint64_t untracked_bytes, uint64_t total_bytes);

/* The number of the device's GPU in samples. False: unknown. */
bool vt_untracked_gpu(const struct vt_sources *sources, unsigned ordinal, uint32_t *gpu);

/* untracked.c: fills the device from NVML's samples: the driver's figures, and name, size and UUID unless they are
 * known. The device's ordinal and peak_at_ns must be set. False: NVML does not have this process's use, so
 * driver_used_bytes, untracked_bytes and `untracked` stay unknown. */
bool vt_untracked_fill(const struct vt_sources *sources, struct vt_device *device);

#include "draw.h"

#endif
