/* SPDX-License-Identifier: MIT */
/*
 * What a snapshot says of the memory that was live at that moment: for each site, which ways hold
 * its blocks, and how much no way holds.
 *
 * A snapshot speaks of framework blocks and of driver allocations without blocks in them; a caching
 * allocator's segments are not memory of their own. Entries for an address that is not live at that
 * moment of the replay, or for a segment, are ignored and counted. Of several entries for an
 * allocation the first names its owner, the next ones further holders.
 */
#ifndef VRAMTRACE_ANALYZER_OWNED_H
#define VRAMTRACE_ANALYZER_OWNED_H

#include "logfile/logfile.h"

/* Blocks of one site that one way holds, with the same roles. */
struct vt_owned_sum {
    uint32_t site; /* in the replay */
    uint32_t step; /* index in vt_log.steps; VT_MAP_NONE: no way is known to them */
    uint32_t roles;
    uint32_t further; /* 0: the way is the owner; 1: another way is */
    /* The other ways to them, where the first begins with a variable of C or C++: it may turn out to
     * hold nothing. VT_MAP_NONE: no more. */
    uint32_t others[VT_OWNED_OTHERS];
    uint64_t bytes, count;
    uint64_t largest; /* of the blocks */
    uint64_t unseen;  /* of the bytes: in parts that no tensor sees */
};

struct vt_replay_snapshot {
    struct vt_rec_snapshot record;
    struct vt_owned_sum *sums; /* by site, then the owners first */
    size_t sum_count;
    uint64_t live_bytes, live_count;     /* device memory, owned or not */
    uint64_t driver_bytes, driver_count; /* of the driver's allocations */
    uint64_t stray_count;                /* entries that were ignored */
};

struct vt_walk;

/* Takes the snapshots that were made before `ticks`; call it before the first event at that time. */
void vt_owned_take(struct vt_walk *w, uint64_t ticks);
/* The log was read: finds the next one to take. */
void vt_owned_find_next(struct vt_walk *w);

/* Lets the log's entries go of the snapshots that were taken, but of the last one at the end. */
void vt_owned_let_go(const struct vt_walk *w, struct vt_log *log);

struct vt_replay;

/* Counts the allocations to which the exit scan found no pointer. One that was made after the scan at
 * the address of another was not looked for. Entries of unknown address spaces or allocations do not
 * count, nor do repeated ones: the tracer missed the free between. Nor does what has an owner at the
 * same moment: a reference cycle that only Python's collector would free. */
void vt_owned_take_lost(struct vt_replay *replay, const struct vt_log *log);

/* Saves the snapshots that were taken, or loads them into a replay that has none (base/state.h). */
void vt_owned_state(struct vt_replay *replay, const struct vt_log *log, struct vt_state *s);

/* Forgets what was held at those that were taken so far. */
void vt_owned_drop(struct vt_replay *replay);

#endif
