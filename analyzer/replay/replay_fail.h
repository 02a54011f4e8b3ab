/* SPDX-License-Identifier: MIT */
/*
 * Failed allocations in the replay, for replay.c alone: it tells of every refusal, of a framework's
 * errors, of driver memory that came, and of what the driver said it had.
 */
#ifndef VRAMTRACE_ANALYZER_REPLAY_FAIL_H
#define VRAMTRACE_ANALYZER_REPLAY_FAIL_H

#include "replay.h"

/* What is still to be heard of. Start it as {0}. */
struct vt_fails {
    struct vt_map
        open;         /* thread -> its newest fail that nothing was heard of since: index + 1; 0 */
    uint32_t pending; /* of all threads */
    size_t info_from[256]; /* the first fail that may have no later answer of the driver yet */
};

/* The driver, or the tracer in its place, refused on this thread. */
void vt_fails_refused(struct vt_fails *fails, struct vt_replay *r, const struct vt_log *log,
                      uint32_t tid, const struct vt_rec_fail *f);
/* A framework gave up. */
void vt_fails_given_up(struct vt_fails *fails, struct vt_replay *r, const struct vt_log *log,
                       uint32_t tid, const struct vt_rec_cacheoom *o);
/* Driver memory came. Where `pending` is 0 there is no need to say so. */
void vt_fails_succeeded(struct vt_fails *fails, struct vt_replay *r, uint32_t tid, uint64_t size,
                        uint64_t ticks);
/* The driver said how much is free. */
void vt_fails_asked(struct vt_fails *fails, struct vt_replay *r, const struct vt_rec_meminfo *m);
void vt_fails_free(struct vt_fails *fails); /* and it is as at the start */

#endif
