/* SPDX-License-Identifier: MIT */
/*
 * The door of judge/: conclusions from the books. Each file answers one question about a finished
 * replay, or about the model as far as it is filled, and writes the answer into the model, which
 * owns it. build.c calls them in the order that they need. Nothing here fails.
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
 * Law: conclude only what the evidence shows, in kinds, figures and names; evidence/ makes sentences of
 * them. An unknown figure is VT_UNKNOWN. Uses base, log, model, replay and names.
 */
#ifndef VRAMTRACE_ANALYZER_JUDGE_H
#define VRAMTRACE_ANALYZER_JUDGE_H

#include "names/names.h"
#include "log/log.h"
#include "model/model.h"
#include "replay/replay.h"

/* What conclusions are drawn from, besides the model: a log, its books, the names in it. */
struct vt_sources {
    const struct vt_log *log;
    const struct vt_replay *replay;
    const struct vt_history *history;
    const struct vt_iterations *iterations;
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

/* fragmentation.c: fills vt_device.fragmentation: memory that is reserved but not in use, at the
 * end, at its worst, over time; and the blocks that keep it reserved. */
void vt_fragmentation_measure(const struct vt_sources *sources, struct vt_device *device);

/* oom.c: fills the process's ooms: the failed allocations, their figures and outcomes; and
 * vt_site.bytes_at_oom. */
void vt_oom_find(const struct vt_sources *sources, struct vt_process *process);

/* oom_cause.c: adds causes to the ooms. The process must have its leaks. */
void vt_oom_explain(const struct vt_sources *sources, struct vt_process *process);

/* oom_setting.c: looks for a setting of PyTorch's allocator under which the process had not run out
 * of memory. The causes must be known. */
void vt_oom_try_settings(const struct vt_sources *sources, struct vt_process *process);

/* oom.c: an estimate of what other processes hold at a moment, in bytes, of memory that is used but
 * not tracked. The process's objects must be filled in. */
uint64_t vt_oom_others(const struct vt_process *process, unsigned device, uint64_t at,
                       uint64_t untracked_bytes, uint64_t total_bytes);

/* owners.c: fills the process's snapshots, and vt_site.owned. */
void vt_owners_take(const struct vt_sources *sources, struct vt_process *process);

/* owners.c: what holds nearly all of a site that has an owner: equal numbers for one holder.
 * VT_MAP_NONE: no single one, or nothing is known. */
uint32_t vt_owners_main_holder(const struct vt_site *site);

/* owners.c: fills vt_leak.owned and vt_leak.kept. */
void vt_owners_tell(struct vt_process *process);

/* bound.c: after growth is found: settles vt_site.bound, and takes away the growth of what can take no
 * more than the device has. */
void vt_bounds_judge(struct vt_process *process);

/* lifetime.c: fills vt_site.longest_life and oldest_age. */
void vt_lifetime_measure(const struct vt_sources *sources, struct vt_process *process);

/* verdicts.c: sets every site's verdict. */
void vt_verdicts_give(struct vt_process *process);

/* A time ahead, in ns; VT_UNKNOWN: past what 64 bits hold. */
static inline uint64_t vt_judge_ahead(double ns) {
    return ns < 0x1p63 ? (uint64_t)ns : VT_UNKNOWN;
}

/* in_step.c: after growth.c: draws the course of each growing site, and lets sites grow that rise in
 * step with one that does. Close what it returns. */
struct vt_courses;
struct vt_courses *vt_in_step_adopt(const struct vt_sources *sources, struct vt_process *process);
void vt_in_step_close(struct vt_courses *courses);

/* helper_lines.c: after growth.c: fills vt_site.caller of the sites of a helper's line. */
void vt_helpers_find(struct vt_process *process);

/* leaks.c: groups the failing sites into leaks, the worst first. */
void vt_leaks_gather(const struct vt_courses *courses, struct vt_process *process);

/* growth_sawtooth.c: names the phases of the sites' teeth, and finds the largest that are no
 * growth. */
void vt_sawtooth_weigh(struct vt_process *process);

/* growth.c: fills vt_site.growth of each site that grows, in Python processes vt_site.unjudged,
 * vt_site.sawtooth of each that rises and falls again and again, and vt_site.held_* of each that
 * allocated. */
void vt_growth_find(const struct vt_sources *sources, struct vt_process *process);

/* pytest_sites.c: what the pytest plugin told: fills vt_site.tested and `unjudged`, and gives the sites that
 * a test failed for a growth. Their held_* must be filled in. */
void vt_tests_take(const struct vt_sources *sources, struct vt_process *process);

/* The number by which samples name the device's GPU. False: unknown. */
bool vt_untracked_gpu(const struct vt_sources *sources, unsigned ordinal, uint32_t *gpu);

/* untracked.c: fills the device from NVML's samples: name, size and UUID, unless they are known,
 * and the driver's figures. Its ordinal and peak_at must be set. Returns whether this process's own
 * figures are known; else driver_used_bytes, untracked_bytes and `untracked` stay unknown. */
bool vt_untracked_take(const struct vt_sources *sources, struct vt_device *device);

#endif
