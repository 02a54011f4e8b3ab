/* SPDX-License-Identifier: MIT */
/*
 * Places the processes of several hosts on one time line (see clocks.h).
 *
 * All processes of a host share one offset between real time and monotonic time, so their order is exact. Between hosts
 * only the real-time clocks can be compared. They may differ unnoticed; but peers begin together and end together.
 */
#include "clocks.h"

#include "job_runs.h"

#include <stdlib.h>

/* The case: a host's ranks all began, and ended, later than another's by the same time. Reported if the delay
 * exceeds this many times a host's spread and the begin-to-end disagreement. */
#define APART_SPREADS 3

/* ... and is longer than any skew of synchronized clocks or launch delay. */
#define APART_NS 1000000000u

/* --- one host --- */

static uint64_t apart(uint64_t a, uint64_t b) {
    return a > b ? a - b : b - a;
}

void vt_job_set_clocks(struct vt_job *f) {
    VT_SCOPED uint32_t *first = vt_alloc(f->host_count, sizeof *first);
    for (uint32_t i = 0; i < f->host_count; i++)
        first[i] = VT_JOB_NONE;
    for (uint32_t i = 0; i < f->process_count; i++) {
        const struct vt_job_process *p = &f->processes[i];
        uint32_t *of = &first[p->host];
        const struct vt_job_process *q = *of == VT_JOB_NONE ? NULL : &f->processes[*of];
        if (!q || VT_ORDER({p->started_monotonic, q->started_monotonic},
                           {p->started_realtime, q->started_realtime}) < 0)
            *of = i;
    }
    for (uint32_t i = 0; i < f->host_count; i++)
        if (first[i] != VT_JOB_NONE)
            f->hosts[i].clock_offset =
                f->processes[first[i]].started_realtime - f->processes[first[i]].started_monotonic;
    for (uint32_t i = 0; i < f->process_count; i++) {
        struct vt_job_process *p = &f->processes[i];
        struct vt_job_host *host = &f->hosts[p->host];
        uint64_t step = apart(p->started_realtime, p->started_monotonic + host->clock_offset);
        p->started_at = p->started_monotonic + host->clock_offset;
        host->clock_step = step > host->clock_step ? step : host->clock_step;
    }
}

/* --- several hosts --- */

/* When one peer group's ranks on a host began and ended. */
struct span {
    uint64_t first_start, last_start, first_end, last_end;
    uint32_t count;
    bool known;
};

static void widen_span(struct span *span, const struct vt_job_process *p) {
    uint64_t end = p->started_at + p->duration;
    if (!span->count++)
        *span = (struct span){p->started_at, p->started_at, end, end, 1, true};
    span->first_start = p->started_at < span->first_start ? p->started_at : span->first_start;
    span->last_start = p->started_at > span->last_start ? p->started_at : span->last_start;
    span->first_end = end < span->first_end ? end : span->first_end;
    span->last_end = end > span->last_end ? end : span->last_end;
    span->known &= !vt_job_is_running(p);
}

static int64_t later(uint64_t first, uint64_t last, uint64_t than_first, uint64_t than_last) {
    return (int64_t)(first / 2 + last / 2 - (than_first / 2 + than_last / 2));
}

/* The delay of a host's ranks against another's, if begin and end agree. 0: unknown. */
static int64_t apart_by(const struct span *a, const struct span *b) {
    int64_t begin = later(a->first_start, a->last_start, b->first_start, b->last_start),
            end = later(a->first_end, a->last_end, b->first_end, b->last_end);
    uint64_t spreads[] = {a->last_start - a->first_start, a->last_end - a->first_end,
                          b->last_start - b->first_start, b->last_end - b->first_end,
                          apart((uint64_t)begin, (uint64_t)end)};
    int64_t by = begin / 2 + end / 2;
    uint64_t size = by < 0 ? -(uint64_t)by : (uint64_t)by;
    if (!a->known || !b->known || (begin < 0) != (end < 0) || size < APART_NS || size > INT64_MAX)
        return 0;
    for (size_t i = 0; i < sizeof spreads / sizeof *spreads; i++)
        if (size <= APART_SPREADS * spreads[i])
            return 0;
    return by;
}

/* Compares one group's hosts with the first rank's host. */
static void compare_hosts(struct vt_job *f, const struct vt_job_peers *peers, struct span *spans) {
    uint32_t to = f->processes[peers->processes[0]].host;
    for (uint32_t i = 0; i < f->host_count; i++)
        spans[i] = (struct span){0};
    for (uint32_t i = 0; i < peers->process_count; i++)
        widen_span(&spans[f->processes[peers->processes[i]].host],
                   &f->processes[peers->processes[i]]);
    for (uint32_t i = 0; i < f->host_count; i++) {
        struct vt_job_host *host = &f->hosts[i];
        int64_t by = i != to && spans[i].count ? apart_by(&spans[i], &spans[to]) : 0;
        if (!by || host->later_by)
            continue;
        host->later_by = by;
        host->later_than = to;
    }
}

void vt_job_compare_clocks(struct vt_job *f) {
    VT_SCOPED struct span *spans = vt_alloc(f->host_count, sizeof *spans);
    for (uint32_t i = 0; i < f->peers_count && f->host_count > 1; i++) {
        const struct vt_job_peers *peers = &f->peers[i];
        if (peers->process_count > 1 && !peers->empty && !peers->replaced &&
            f->processes[peers->processes[0]].rank >= 0)
            compare_hosts(f, peers, spans);
    }
}
