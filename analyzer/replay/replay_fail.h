/* SPDX-License-Identifier: MIT */
/*
 * Failed allocations. For the replay alone, which reports every refusal, every error of a
 * framework, every successful allocation of driver memory, and the driver's answers about free
 * memory.
 */
#ifndef VRAMTRACE_ANALYZER_REPLAY_FAIL_H
#define VRAMTRACE_ANALYZER_REPLAY_FAIL_H

#include "replay.h"

/* Fails whose outcome is still open. Start it as {0}; free with vt_fails_free. */
struct vt_fails {
    struct vt_map open;    /* thread -> its newest open fail: index + 1; 0: none */
    uint32_t pending;      /* open fails of all threads */
    size_t info_from[256]; /* by device: the first fail that still waits for the driver's next
                              answer */
};

/* The driver, or the tracer for it (a limit), refused on this thread. Whether for want of memory. */
bool vt_fails_refused(struct vt_fails *fails, struct vt_replay *r, const struct vt_log *log,
                      uint32_t tid, const struct vt_rec_fail *f);
/* A framework raised its error. */
void vt_fails_given_up(struct vt_fails *fails, struct vt_replay *r, const struct vt_log *log,
                       uint32_t tid, const struct vt_rec_cacheoom *o,
                       struct vt_rehearsal *rehearsal);
/* Driver memory was allocated. Needs no call if `pending` is 0. */
void vt_fails_succeeded(struct vt_fails *fails, struct vt_replay *r, uint32_t tid, uint64_t size,
                        uint64_t ticks);
/* The driver answered how much is free. */
void vt_fails_asked(struct vt_fails *fails, struct vt_replay *r, const struct vt_rec_meminfo *m);
void vt_fails_free(struct vt_fails *fails); /* leaves it empty, ready for use */
void vt_fails_drop(struct vt_replay *r);    /* frees the replay's fails */

#endif
