/* SPDX-License-Identifier: MIT */
/*
 * Chooses the processes that a report shows in full (see job.h): those that differ, with the typical one of their
 * peers; those that ran out of memory; and the typical process of each other group.
 */
#include "job.h"
#include "outliers.h"

#include <stdlib.h>

static void show(struct vt_job *f, struct vt_map *shown, uint32_t process) {
    if (vt_map_get(shown, process) != VT_MAP_NONE)
        return;
    vt_map_put(shown, process, f->shown_count);
    f->shown[f->shown_count++] = process;
}

struct by_peak {
    uint64_t peak;
    uint32_t peers;
};

static int compare_peaks(const void *a, const void *b) {
    const struct by_peak *x = a, *y = b;
    return VT_ORDER({y->peak, x->peak}, {x->peers, y->peers});
}

void vt_job_find_shown(struct vt_job *f) {
    VT_SCOPED_MAP shown = {0};
    VT_SCOPED struct by_peak *order = vt_alloc(f->peers_count, sizeof *order);
    f->shown = vt_alloc(f->process_count, sizeof *f->shown);
    for (uint32_t i = 0; i < f->outlier_count; i++) {
        show(f, &shown, f->outliers[i].processes[0]);
        show(f, &shown, f->peers[f->outliers[i].peers].typical);
    }
    for (uint32_t i = 0; i < f->peers_count; i++) {
        const struct vt_job_peers *peers = &f->peers[i];
        order[i] = (struct by_peak){f->processes[peers->typical].peak_bytes, i};
        for (uint32_t k = 0; k < peers->process_count; k++) {
            const struct vt_job_process *p = &f->processes[peers->processes[k]];
            if (p->oom_count && !vt_ended_well(p->ending)) {
                show(f, &shown, peers->processes[k]);
                break; /* the report's table has the others */
            }
        }
    }
    vt_sort(order, f->peers_count, sizeof *order, compare_peaks);
    for (uint32_t i = 0; i < f->peers_count; i++)
        if (vt_job_peers_compared(&f->peers[order[i].peers]))
            show(f, &shown, f->peers[order[i].peers].typical);
    if (f->process_count)
        show(f, &shown, f->shown_count ? f->shown[0] : 0);
}
