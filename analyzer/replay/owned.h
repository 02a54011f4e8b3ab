/* SPDX-License-Identifier: MIT */
/*
 * The owners of the memory live at a snapshot: for each site, the paths to its blocks, and the amount without a path.
 *
 * A snapshot covers framework blocks and driver allocations without blocks; a caching allocator's segments are not
 * counted again. Entries for an address that is not live at that moment of the replay, or for a segment, are ignored
 * and counted. An allocation's first entry names its owner; later entries name further references.
 */
#ifndef VRAMTRACE_ANALYZER_OWNED_H
#define VRAMTRACE_ANALYZER_OWNED_H

#include "logfile/logfile.h"

/* Blocks of one site on one path, with the same roles. */
struct vt_owned_sum {
    uint32_t site; /* in the replay */
    uint32_t step; /* index in vt_log.steps; VT_MAP_NONE: no path is known */
    uint32_t roles;
    uint32_t further; /* 0: this path is the owner; 1: another path is */
    /* The other paths to the blocks, if the first begins with a C or C++ variable, which may turn out to own
     * nothing. VT_MAP_NONE: no more. */
    uint32_t others[VT_OWNED_OTHERS];
    uint64_t bytes, count;
    uint64_t largest; /* bytes of the largest block */
    uint64_t unseen;  /* bytes not covered by any tensor */
};

struct vt_replay_snapshot {
    struct vt_rec_snapshot record;
    struct vt_owned_sum *sums; /* by site, owners first */
    size_t sum_count;
    uint64_t live_bytes, live_count;     /* device memory, owned or not */
    uint64_t driver_bytes, driver_count; /* the driver's allocations */
    uint64_t stray_count;                /* ignored entries */
};

struct vt_walk;

/* Processes the snapshots that were made before `ticks`; call it before the first event at that time. */
void vt_owned_apply(struct vt_walk *w, uint64_t ticks);
/* Finds the next snapshot to process, after the log was read. */
void vt_owned_find_next(struct vt_walk *w);

/* Evicts the log's entries of processed snapshots, except those of the last snapshot at the end. */
void vt_owned_evict(const struct vt_walk *w, struct vt_log *log);

struct vt_replay;

/* Counts the allocations to which the exit scan found no pointer. Ignores allocations made later at a reused
 * address, for which the scan did not look; entries for unknown address spaces or allocations; repeated entries,
 * where the tracer missed the free in between; and allocations that the snapshot at the same moment gives an owner,
 * namely a reference cycle that only Python's collector would free. */
void vt_owned_apply_lost(struct vt_replay *replay, const struct vt_log *log);

/* Saves the processed snapshots, or loads them into a replay that has none (base/saved_state.h). */
void vt_owned_state(struct vt_replay *replay, const struct vt_log *log, struct vt_state *s);

/* Forgets the processed snapshots. */
void vt_owned_drop(struct vt_replay *replay);

#endif
