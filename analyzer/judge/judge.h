/* SPDX-License-Identifier: MIT */
/*
 * The door of judge/: what the books mean. Each file puts one question to a finished replay, or to
 * the model as it is so far, and writes the answer into the model; build.c asks them in turn.
 *
 * Law: say nothing that the evidence does not show. A verdict has its evidence in one sentence, and
 * a figure that cannot be known is VT_UNKNOWN. Uses base, log, model, replay and names.
 */
#ifndef VRAMTRACE_ANALYZER_JUDGE_H
#define VRAMTRACE_ANALYZER_JUDGE_H

#include "names/names.h"
#include "log/log.h"
#include "model/model.h"
#include "replay/replay.h"

/* fragmentation.c: how much of a device's memory is reserved and not in use, in how many pieces:
 * at the end, at its worst, over time; and which blocks keep it so. `index` says for each of the
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

/* lifetime.c: fills vt_site.usual_life, longest_life and oldest_age. `index`: the replay's site ->
 * the process's; `end`: ticks. */
void vt_lifetime_measure(const struct vt_replay *replay, struct vt_clock clock, uint64_t end,
                         const uint32_t *index, struct vt_process *process);

/* diagnose.c: gives every site its verdict. */
void vt_diagnose_sites(struct vt_process *process);

/* leaks.c: gathers the failing sites into leaks, the gravest first. */
void vt_leaks_gather(struct vt_process *process);

/* advice.c: gives each leak what its evidence suggests: one line that names the frame which shows
 * it, or none. */
void vt_advice_add(struct vt_process *process);

/* growth.c: gives each site of the process that grows its vt_site.growth, and all that allocated their
 * vt_site.held_*. `index`: the replay's site -> the process's, VT_NO_SITE for none. `end`: ticks at
 * which the process ended, or the log does. */
void vt_growth_find(const struct vt_replay *replay, const struct vt_history *history,
                    const struct vt_iterations *iterations, struct vt_clock clock, uint64_t end,
                    const uint32_t *index, struct vt_process *process);

/* untracked.c: fills in what the samples say of the device: name, size and UUID where the program never asked,
 * and the driver's figures. Its ordinal and peak_at must be set. True: the figures of this process
 * are known; false: driver_used_bytes, untracked_bytes and `untracked` stay unknown. */
bool vt_untracked_take(const struct vt_log *log, const struct vt_replay *replay,
                       struct vt_clock clock, struct vt_device *device);

#endif
