/* SPDX-License-Identifier: MIT */
/*
 * The steps that need all processes of a job (see job.h), such as the order of processes and of their rows.
 */
#include "clocks.h"
#include "job.h"
#include "outliers.h"
#include "job_runs.h"
#include "tables.h"

#include <stdlib.h>

/* --- the order --- */

static int compare_processes(const void *a, const void *b) {
    const struct vt_job_process *x = a, *y = b;
    return VT_ORDER({x->run, y->run}, {(uint64_t)(uint32_t)x->rank, (uint64_t)(uint32_t)y->rank},
                    {x->started_at, y->started_at}, {x->pid, y->pid}, {x->id, y->id});
}

static void sort_processes(struct vt_job *f) {
    VT_SCOPED uint32_t *places = vt_alloc(f->process_count, sizeof *places);
    struct vt_job_process *processes = f->processes;
    for (uint32_t i = 0; i < f->process_count; i++)
        processes[i].first_cell = i; /* before sorting */
    vt_sort(processes, f->process_count, sizeof *processes, compare_processes);
    for (uint32_t i = 0; i < f->process_count; i++)
        places[processes[i].first_cell] = i;
    vt_job_move_rows(f, places);
}

/* A row of a process with its sort key. Summary rows come last; equal values are ordered by the key of their line or
 * owner. */
struct ranked_cell {
    uint64_t rest, key;
    struct vt_job_cell cell;
};

static int compare_cells(const void *a, const void *b) {
    const struct ranked_cell *x = a, *y = b;
    int order = VT_ORDER({x->rest, y->rest});
    return order ? order : vt_job_compare_cells(&x->cell, x->key, &y->cell, y->key);
}

static void rank_cells(struct vt_job *f, struct vt_job_cell *cells, uint32_t count) {
    VT_SCOPED struct ranked_cell *ranked = vt_alloc(count, sizeof *ranked);
    for (uint32_t i = 0; i < count; i++) {
        const struct vt_job_line *line = &f->lines[cells[i].line];
        ranked[i] = (struct ranked_cell){line->rest, line->key, cells[i]};
    }
    vt_sort(ranked, count, sizeof *ranked, compare_cells);
    for (uint32_t i = 0; i < count; i++)
        cells[i] = ranked[i].cell;
}

struct ranked_owned {
    uint64_t rest, key;
    struct vt_job_owned owned;
};

static int compare_owned(const void *a, const void *b) {
    const struct ranked_owned *x = a, *y = b;
    return VT_ORDER({x->rest, y->rest}, {y->owned.bytes, x->owned.bytes}, {x->key, y->key});
}

static void rank_owned(struct vt_job *f, struct vt_job_owned *owned, uint32_t count) {
    VT_SCOPED struct ranked_owned *ranked = vt_alloc(count, sizeof *ranked);
    for (uint32_t i = 0; i < count; i++) {
        const struct vt_job_owner *owner = &f->owners[owned[i].owner];
        ranked[i] = (struct ranked_owned){owner->rest * 2u + owner->unowned, owner->key, owned[i]};
    }
    vt_sort(ranked, count, sizeof *ranked, compare_owned);
    for (uint32_t i = 0; i < count; i++)
        owned[i] = ranked[i].owned;
}

void vt_job_finish(struct vt_job *f) {
    vt_job_remove_dropped(f);
    vt_job_set_clocks(f);
    vt_job_find_runs(f);
    sort_processes(f);
    /* each process has its largest rows first, whether from its log or from a merged file */
    for (uint32_t i = 0; i < f->process_count; i++) {
        const struct vt_job_process *p = &f->processes[i];
        if (p->cell_count)
            rank_cells(f, f->cells + p->first_cell, p->cell_count);
        if (p->owned_count)
            rank_owned(f, f->owned + p->first_owned, p->owned_count);
    }
    vt_job_count_restarts(f);
    vt_job_find_outliers(f);
    vt_job_compare_clocks(f);
}
