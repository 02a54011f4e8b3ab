/* SPDX-License-Identifier: MIT */
/*
 * A run's iterations: the repetitions of one phase or mark that the program named. The name can be chosen only at the
 * end. So the replay counts all names as they occur, and the history counts the repetitions of the few names that may
 * be chosen.
 *
 *     history.h     the history has a counter for each of VT_HISTORY_NAMES names
 *     iterations.c  decides which names are counted, and chooses one at the end
 */
#ifndef VRAMTRACE_ANALYZER_ITERATIONS_H
#define VRAMTRACE_ANALYZER_ITERATIONS_H

#include "history.h"
#include "vramtrace/log_format.h"

/* The choice. */
struct vt_iterations {
    uint32_t name;   /* index in vt_log.names */
    uint32_t number; /* in vt_bucket.iterations */
    size_t count;    /* 0: the program marked no iterations */
    uint64_t end;    /* ticks at which the last one ended; VT_TICKS_MASK: unknown, as for marks */
    bool shared;     /* on several threads, so their order varies from run to run */
};

/* With fewer than FEW repetitions a trend may be chance. Among names with at least ENOUGH, the outermost is chosen. */
enum { VT_ITERATIONS_FEW = 5, VT_ITERATIONS_ENOUGH = 8 };

/* Phases and marks of one name, domain and nesting depth, on all threads. */
struct vt_phase_kind {
    uint32_t name, domain, depth;      /* name, domain: as in vt_log_phase */
    uint32_t number;                   /* in vt_bucket.iterations; VT_MAP_NONE: not counted there */
    uint32_t open;                     /* how many have not ended */
    uint64_t count, most;              /* on all threads; on the thread with the most */
    uint64_t end;                      /* ticks of the last end */
    uint64_t first[VT_ITERATIONS_FEW]; /* ticks when the first ones began */
};

/* A kind's phases on one thread. */
struct vt_phase_part {
    uint32_t kind, tid;
    uint64_t count;
};

/* The most kinds and parts; without a limit, names that are never repeated would use ever more memory. */
#define VT_PHASE_KINDS 65536u

/* Zero-initialized: empty. Free with vt_phase_kinds_free. */
struct vt_phase_kinds {
    struct vt_phase_kind *kinds;
    struct vt_phase_part *parts;
    uint32_t *depths; /* by thread: number of open phases */
    uint32_t kind_count, kind_room, part_count, part_room, depth_count, depth_room;
    struct vt_map by_kind, by_part, by_tid;
    uint32_t counted[VT_HISTORY_NAMES]; /* kinds by their number in the history */
    uint32_t counted_count;
};

/* The properties that decide a phase's kind. */
struct vt_phase_name {
    uint32_t name, domain, tid; /* as in vt_log_phase */
    bool of_thread, mark;
};

/* A phase begins, or a mark occurs, at `ticks`. Returns its kind; VT_MAP_NONE: too many kinds. */
uint32_t vt_phase_kinds_begin(struct vt_phase_kinds *kinds, struct vt_history *history,
                              struct vt_phase_name phase, uint64_t ticks);
/* That phase ends; not for marks. `kind`: from the call above. */
void vt_phase_kinds_end(struct vt_phase_kinds *kinds, struct vt_history *history,
                        struct vt_phase_name phase, uint32_t kind, uint64_t ticks);

/* Chooses the iterations: the repetitions, on all threads, of the outermost name that repeats often enough on the
 * thread with the most events to show a trend. */
struct vt_iterations vt_phase_kinds_choose(const struct vt_phase_kinds *kinds,
                                           const struct vt_history *history);
void vt_phase_kinds_free(struct vt_phase_kinds *kinds);
/* Saves kinds, or loads into empty ones, for a log with `name_count` names (base/saved_state.h). */
void vt_phase_kinds_state(struct vt_phase_kinds *kinds, uint64_t name_count, struct vt_state *s);

#endif
