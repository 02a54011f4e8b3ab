/* SPDX-License-Identifier: MIT */
/*
 * The questions asked of a finished replay, one file each. build.c asks them in this order.
 */
#ifndef VRAMTRACE_ANALYZER_DIAGNOSE_H
#define VRAMTRACE_ANALYZER_DIAGNOSE_H

#include "names/classes.h"
#include "log/clock.h"
#include "model/model.h"
#include "replay/replay.h"
#include "names/stacks.h"

/* fragmentation.c: how much of a device's memory is reserved and not in use, in how many pieces:
 * at the end, at its worst, over time; and which blocks keep it so. `place` says for each of the
 * replay's sites where it is in the model. */
void vt_fragmentation_measure(const struct vt_log *log, const struct vt_replay *replay,
                              struct vt_clock clock, const uint32_t *index,
                              struct vt_device *device);

/* oom.c: the failed allocations, with what became of each and why it failed. */
struct vt_oom_sources {
    const struct vt_log *log;
    const struct vt_replay *replay;
    struct vt_clock clock;
    const uint32_t *index; /* where the replay's sites are in the model; VT_NO_SITE */
    struct vt_stacks *stacks;
    const struct vt_classes *classes;
    int device; /* only this one's; -1: all */
};
void vt_oom_find(const struct vt_oom_sources *sources, struct vt_process *process);

/* ... and what could be done, once the sites have their verdicts. */
void vt_oom_advise(struct vt_process *process);

/* How much of what the driver says is used, and is not tracked, other processes hold at a moment (an
 * estimate; the process's objects must be filled in). */
uint64_t vt_oom_others(const struct vt_process *process, unsigned device, uint64_t at,
                       uint64_t untracked_bytes, uint64_t total_bytes);

/* lifetime.c: fills vt_site.usual_life, longest_life and oldest_age. `place`: the replay's site ->
 * the process's; `end`: ticks. */
void vt_lifetime_measure(const struct vt_replay *replay, struct vt_clock clock, uint64_t end,
                         const uint32_t *index, struct vt_process *process);

/* lifetime.c: adds to the evidence that what is live has outlived all others of its site by far;
 * nothing where it has not. */
void vt_lifetime_say(const struct vt_site *site, struct vt_string *why);

/* diagnose.c: gives every site its verdict. */
void vt_diagnose_sites(struct vt_process *process);

/* diagnose.c: what the end of the books is, to stand behind "live": "when the process ended". */
const char *vt_diagnose_end(const struct vt_process *process);

/* leaks.c: gathers the failing sites into leaks, the gravest first. */
void vt_leaks_gather(struct vt_process *process);

/* advice.c: gives each leak what its evidence suggests: one line that names the frame which shows
 * it, or none. */
void vt_advice_add(struct vt_process *process);

#endif
