/* SPDX-License-Identifier: MIT */
/*
 * What a fleet can only know when all its processes are there (see fleet.h): the order of processes and
 * of their rows.
 */
#include "clocks.h"
#include "fleet.h"
#include "outliers.h"
#include "runs.h"
#include "tables.h"

#include <stdlib.h>

/* --- the order --- */

static int compare_processes(const void *a, const void *b) {
    const struct vt_fleet_process *x = a, *y = b;
    return VT_ORDER({x->run, y->run}, {(uint64_t)(uint32_t)x->rank, (uint64_t)(uint32_t)y->rank},
                    {x->started_at, y->started_at}, {x->pid, y->pid}, {x->id, y->id});
}

static void sort_processes(struct vt_fleet *f) {
    uint32_t *places = vt_alloc(f->process_count, sizeof *places);
    struct vt_fleet_process *processes = f->processes;
    for (uint32_t i = 0; i < f->process_count; i++)
        processes[i].first_cell = i; /* where it was */
    vt_sort(processes, f->process_count, sizeof *processes, compare_processes);
    for (uint32_t i = 0; i < f->process_count; i++)
        places[processes[i].first_cell] = i;
    vt_fleet_move_rows(f, places);
    free(places);
}

/* A row of a process with what decides its place there. */
struct ranked_cell {
    uint64_t rest, key;
    struct vt_fleet_cell cell;
};

static int compare_cells(const void *a, const void *b) {
    const struct ranked_cell *x = a, *y = b;
    int order = VT_ORDER({x->rest, y->rest});
    return order ? order : vt_fleet_compare_cells(&x->cell, x->key, &y->cell, y->key);
}

struct ranked_owned {
    uint64_t rest, key;
    struct vt_fleet_owned owned;
};

static int compare_owned(const void *a, const void *b) {
    const struct ranked_owned *x = a, *y = b;
    return VT_ORDER({x->rest, y->rest}, {y->owned.bytes, x->owned.bytes}, {x->key, y->key});
}

/* The largest first in each process, whether they come from its log or from a merged file. */
static void rank_rows(struct vt_fleet *f) {
    for (uint32_t i = 0; i < f->process_count; i++) {
        const struct vt_fleet_process *p = &f->processes[i];
        struct ranked_cell *cells = vt_alloc(p->cell_count, sizeof *cells);
        struct ranked_owned *owned = vt_alloc(p->owned_count, sizeof *owned);
        for (uint32_t k = 0; k < p->cell_count; k++) {
            cells[k].cell = f->cells[p->first_cell + k];
            cells[k].rest = f->lines[cells[k].cell.line].rest;
            cells[k].key = f->lines[cells[k].cell.line].key;
        }
        for (uint32_t k = 0; k < p->owned_count; k++) {
            owned[k].owned = f->owned[p->first_owned + k];
            owned[k].rest =
                f->owners[owned[k].owned.owner].rest * 2u + f->owners[owned[k].owned.owner].nobody;
            owned[k].key = f->owners[owned[k].owned.owner].key;
        }
        vt_sort(cells, p->cell_count, sizeof *cells, compare_cells);
        vt_sort(owned, p->owned_count, sizeof *owned, compare_owned);
        for (uint32_t k = 0; k < p->cell_count; k++)
            f->cells[p->first_cell + k] = cells[k].cell;
        for (uint32_t k = 0; k < p->owned_count; k++)
            f->owned[p->first_owned + k] = owned[k].owned;
        free(cells);
        free(owned);
    }
}

void vt_fleet_finish(struct vt_fleet *f) {
    vt_fleet_remove_dropped(f);
    vt_fleet_set_clocks(f);
    vt_fleet_find_runs(f);
    sort_processes(f);
    rank_rows(f);
    vt_fleet_count_restarts(f);
    vt_fleet_find_outliers(f);
    vt_fleet_compare_clocks(f);
}
