/* SPDX-License-Identifier: MIT */
/*
 * Repeats a run in rows (see cache_model.h). Rows with the same settings share a model without a limit, the leader,
 * until a request or memory outside the allocator would exceed a row's device. Then the row gets its own copy of the
 * model, with its limit.
 */
#include "cache_model.h"

#include <stdlib.h>
#include <string.h>

struct row {
    struct vt_rehearsal_setup setup;
    struct vt_rehearsal_result result;
    uint32_t model; /* the row's own model, or the leader that it follows */
    bool follows, ended;
};

struct model {
    struct vt_cache_model *cache; /* NULL: no row needs it */
    uint32_t *blocks;             /* by slot: the block's number; 0: none */
    uint64_t lowest;              /* lowest limit of the rows that follow; UINT64_MAX: none */
    uint64_t margin; /* every request takes less than this plus twice its size from the driver */
};

struct vt_rehearsal {
    unsigned device;
    struct row *rows;
    struct model *models;
    uint32_t row_count, model_count, model_room;
    const double *factors;
    uint32_t factor_count;
    const bool *in_backward; /* see vt_rehearsal_watch_backward */
    uint32_t *outlived, backward_count;
    uint32_t *born; /* by slot: 1 + the site, for blocks of the current backward pass; else 0 */
    uint32_t *young, young_count, young_room; /* the slots of these blocks, and others */
    struct vt_map by_address;                 /* a block -> its slot */
    uint32_t slot_count, slot_room, *unused, unused_count, unused_room;
    uint64_t outside;
};

/* --- rows and models --- */

static bool same_settings(const struct vt_cache_settings *a, const struct vt_cache_settings *b) {
    return a->expandable == b->expandable && a->max_split == b->max_split &&
           a->max_rounding == b->max_rounding && a->large_segment == b->large_segment &&
           !memcmp(a->divisions, b->divisions, sizeof a->divisions);
}

/* With a fraction, the result depends on the device's size. */
static bool may_share(const struct row *a, const struct row *b) {
    return a->setup.settings.fraction >= 1 && b->setup.settings.fraction >= 1 &&
           same_settings(&a->setup.settings, &b->setup.settings);
}

static uint32_t add_model(struct vt_rehearsal *r, struct vt_cache_model *cache,
                          const uint32_t *blocks, const struct vt_cache_settings *settings) {
    struct model model = {.cache = cache,
                          .blocks = vt_alloc(r->slot_room, sizeof *model.blocks),
                          .lowest = UINT64_MAX,
                          .margin = 2 * settings->large_segment + VT_CACHE_LARGE};
    if (blocks)
        memcpy(model.blocks, blocks, r->slot_count * sizeof *blocks);
    *VT_ADD(r->models, r->model_count, r->model_room) = model;
    return r->model_count - 1;
}

/* Finds the lowest limit of the rows that follow a model, or closes a model without rows. */
static void count_followers(struct vt_rehearsal *r, uint32_t model) {
    struct model *m = &r->models[model];
    bool needed = false;
    m->lowest = UINT64_MAX;
    for (uint32_t i = 0; i < r->row_count; i++) {
        const struct row *row = &r->rows[i];
        if (row->model != model || row->ended)
            continue;
        needed = true;
        if (row->follows && row->setup.usable < m->lowest)
            m->lowest = row->setup.usable;
    }
    if (needed)
        return;
    vt_cache_close(m->cache);
    free(m->blocks);
    *m = (struct model){.lowest = UINT64_MAX};
}

struct vt_rehearsal *vt_rehearsal_open(unsigned device, const struct vt_rehearsal_setup *setups,
                                       unsigned count) {
    struct vt_rehearsal *r = vt_alloc(1, sizeof *r);
    *r = (struct vt_rehearsal){.device = device, .slot_room = 1024};
    r->born = vt_alloc(r->slot_room, sizeof *r->born);
    r->rows = vt_alloc(count, sizeof *r->rows);
    r->row_count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct row *row = &r->rows[i];
        uint32_t leader = 0;
        *row = (struct row){.setup = setups[i], .follows = setups[i].settings.fraction >= 1};
        while (leader < i && !may_share(&r->rows[leader], row))
            leader++;
        if (leader < i) {
            row->model = r->rows[leader].model;
            continue;
        }
        uint64_t usable = row->follows ? UINT64_MAX : row->setup.usable;
        uint64_t device_bytes = row->follows ? UINT64_MAX : row->setup.device_bytes;
        row->model = add_model(r, vt_cache_open(&row->setup.settings, usable, device_bytes), NULL,
                               &row->setup.settings);
    }
    for (uint32_t i = 0; i < r->model_count; i++)
        count_followers(r, i);
    return r;
}

void vt_rehearsal_close(struct vt_rehearsal *r) {
    if (!r)
        return;
    for (uint32_t i = 0; i < r->model_count; i++) {
        vt_cache_close(r->models[i].cache);
        free(r->models[i].blocks);
    }
    vt_map_free(&r->by_address);
    free(r->rows);
    free(r->models);
    free(r->unused);
    free(r->born);
    free(r->young);
    free(r);
}

void vt_rehearsal_scale(struct vt_rehearsal *r, const double *factors, uint32_t count) {
    r->factors = factors;
    r->factor_count = count;
}

void vt_rehearsal_watch_backward(struct vt_rehearsal *r, const bool *in_backward,
                                 uint32_t *outlived, uint32_t count) {
    r->in_backward = in_backward;
    r->outlived = outlived;
    r->backward_count = count;
}

unsigned vt_rehearsal_device(const struct vt_rehearsal *r) {
    return r->device;
}

static void set_peaks(const struct vt_rehearsal *r, struct row *row) {
    const struct vt_cache_figures *f = vt_cache_figures(r->models[row->model].cache);
    row->result.peak_reserved = f->peak_reserved;
    row->result.peak_bytes = f->peak_bytes;
}

const struct vt_rehearsal_result *vt_rehearsal_result(struct vt_rehearsal *r, unsigned row) {
    if (!r->rows[row].ended)
        set_peaks(r, &r->rows[row]);
    return &r->rows[row].result;
}

/* --- limits --- */

static void end_row(struct vt_rehearsal *r, struct row *row, const struct vt_rehearsal_event *event,
                    uint64_t requested, uint64_t missing) {
    set_peaks(r, row);
    row->result.failed = (struct vt_rehearsal_refusal){.happened = true,
                                                       .stack = event->stack,
                                                       .ticks = event->ticks,
                                                       .requested_bytes = requested,
                                                       .missing_bytes = missing};
    row->ended = true;
}

/* Ends the rows of a model that failed. */
static void end_model(struct vt_rehearsal *r, uint32_t model,
                      const struct vt_rehearsal_event *event, uint64_t requested) {
    uint64_t missing = vt_cache_figures(r->models[model].cache)->missing_bytes;
    for (uint32_t i = 0; i < r->row_count; i++)
        if (r->rows[i].model == model && !r->rows[i].ended)
            end_row(r, &r->rows[i], event, requested, missing);
    count_followers(r, model);
}

/* Separates the rows that the request could bring to their limit. */
static void part(struct vt_rehearsal *r, uint32_t model, struct vt_cache_request request) {
    const struct vt_cache_figures *f = vt_cache_figures(r->models[model].cache);
    uint64_t held = f->reserved + r->outside;
    if (request.size < UINT64_MAX / 4 &&
        held + 2 * request.size + r->models[model].margin <= r->models[model].lowest)
        return;
    uint64_t high = held + vt_cache_growth(r->models[model].cache, request);
    if (high <= r->models[model].lowest)
        return;
    for (uint32_t i = 0; i < r->row_count; i++) {
        struct row *row = &r->rows[i];
        const struct model *leader = &r->models[model]; /* add_model moves the array */
        if (row->model != model || !row->follows || row->ended || row->setup.usable >= high)
            continue;
        row->model = add_model(r, vt_cache_copy(leader->cache, row->setup.usable), leader->blocks,
                               &row->setup.settings);
        row->follows = false;
    }
    count_followers(r, model);
}

static void set_outside(struct vt_rehearsal *r, const struct vt_rehearsal_event *event) {
    if (event->outside == r->outside)
        return;
    r->outside = event->outside;
    for (uint32_t i = 0; i < r->row_count; i++) {
        struct row *row = &r->rows[i];
        if (!row->follows || row->ended)
            continue;
        uint64_t held = vt_cache_figures(r->models[row->model].cache)->reserved + r->outside;
        if (held > row->setup.usable)
            end_row(r, row, event, 0, held - row->setup.usable);
    }
    for (uint32_t i = 0; i < r->model_count; i++) {
        if (r->models[i].cache && !vt_cache_set_outside(r->models[i].cache, r->outside))
            end_model(r, i, event, 0);
        else if (r->models[i].cache)
            count_followers(r, i);
    }
}

/* --- events from the replay --- */

static struct vt_cache_request scaled(const struct vt_rehearsal *r,
                                      const struct vt_rehearsal_event *event) {
    struct vt_cache_request request = event->request;
    if (event->site < r->factor_count)
        request.size = (uint64_t)((double)request.size * r->factors[event->site] + 0.5);
    return request;
}

static uint32_t new_slot(struct vt_rehearsal *r) {
    if (r->unused_count)
        return r->unused[--r->unused_count];
    if (r->slot_count == r->slot_room) {
        r->slot_room *= 2;
        r->born = vt_realloc(r->born, r->slot_room, sizeof *r->born);
        for (uint32_t i = 0; i < r->model_count; i++)
            if (r->models[i].cache)
                r->models[i].blocks =
                    vt_realloc(r->models[i].blocks, r->slot_room, sizeof *r->models[i].blocks);
    }
    return r->slot_count++;
}

/* The first block from outside a backward pass ends the pass. */
static void watch_backward(struct vt_rehearsal *r, uint32_t slot, uint32_t site) {
    bool inside = site < r->backward_count && r->in_backward[site];
    r->born[slot] = inside ? site + 1 : 0;
    if (inside) {
        *VT_ADD(r->young, r->young_count, r->young_room) = slot;
        return;
    }
    for (; r->young_count; r->young_count--) {
        uint32_t *born = &r->born[r->young[r->young_count - 1]];
        if (*born)
            r->outlived[*born - 1]++;
        *born = 0;
    }
}

void vt_rehearsal_alloc(struct vt_rehearsal *r, uint64_t address,
                        const struct vt_rehearsal_event *event) {
    vt_rehearsal_free(r, address);
    set_outside(r, event);
    struct vt_cache_request request = scaled(r, event);
    uint32_t slot = new_slot(r);
    watch_backward(r, slot, event->site);
    for (uint32_t i = 0; i < r->model_count; i++) {
        if (r->models[i].cache && r->models[i].lowest < UINT64_MAX)
            part(r, i, request);
        if (!r->models[i].cache)
            continue;
        uint32_t block = r->models[i].blocks[slot] = vt_cache_alloc(r->models[i].cache, request);
        if (!block)
            end_model(r, i, event, request.size);
    }
    vt_map_put(&r->by_address, address, slot);
}

void vt_rehearsal_free(struct vt_rehearsal *r, uint64_t address) {
    uint32_t slot = vt_map_get(&r->by_address, address);
    if (slot == VT_MAP_NONE)
        return;
    for (uint32_t i = 0; i < r->model_count; i++)
        if (r->models[i].cache)
            vt_cache_free(r->models[i].cache, r->models[i].blocks[slot]);
    vt_map_remove(&r->by_address, address);
    r->born[slot] = 0;
    *VT_ADD(r->unused, r->unused_count, r->unused_room) = slot;
}

void vt_rehearsal_empty(struct vt_rehearsal *r, uint32_t private) {
    for (uint32_t i = 0; i < r->model_count; i++)
        if (r->models[i].cache)
            vt_cache_empty(r->models[i].cache, private);
}

/* The allocator released its cache before the request failed, so models only check whether they have room for the
 * request. */
uint32_t vt_rehearsal_request(struct vt_rehearsal *r, const struct vt_rehearsal_event *event) {
    struct vt_cache_request request = scaled(r, event);
    uint32_t passed = 0;
    set_outside(r, event);
    for (uint32_t i = 0; i < r->model_count; i++) {
        if (r->models[i].cache && r->models[i].lowest < UINT64_MAX)
            part(r, i, request);
        if (!r->models[i].cache)
            continue;
        uint32_t block = vt_cache_alloc(r->models[i].cache, request);
        if (block)
            vt_cache_free(r->models[i].cache, block);
        for (uint32_t j = 0; j < r->row_count; j++) {
            struct row *row = &r->rows[j];
            struct vt_rehearsal_refusal *refused = &row->result.refused;
            if (row->model != i || row->ended)
                continue;
            passed |= block && j < 32 ? 1u << j : 0;
            if (!block && !refused->happened)
                *refused = (struct vt_rehearsal_refusal){
                    .happened = true,
                    .stack = event->stack,
                    .ticks = event->ticks,
                    .requested_bytes = request.size,
                    .missing_bytes = vt_cache_figures(r->models[i].cache)->missing_bytes};
        }
    }
    return passed;
}
