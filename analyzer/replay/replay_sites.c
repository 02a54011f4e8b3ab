/* SPDX-License-Identifier: MIT */
/*
 * The sites of a replay, and the origins of its allocations (see walk.h): a stack is hashed only for an origin's first
 * allocation.
 */
#include "walk.h"

#include <stdlib.h>

/* Host and managed memory have no device. */
static bool has_device(unsigned layer) {
    return layer == VT_LAYER_DRIVER || layer == VT_LAYER_FRAMEWORK;
}

static uint32_t add_site(struct vt_walk *w, uint64_t id, uint32_t stack, unsigned hook,
                         unsigned layer, unsigned device) {
    struct vt_replay *r = w->r;
    VT_GROW(r->sites, r->site_count, r->site_room);
    r->sites[r->site_count] = (struct vt_replay_site){
        .figures = vt_site_no_figures,
        .id = id,
        .stack = stack,
        .hook = (uint16_t)hook,
        .layer = (uint8_t)layer,
        .device = (uint8_t)device,
        .first_ticks = VT_TICKS_MASK,
        /* the site held no bytes at earlier peaks */
        .seen = vt_walk_account(r, layer, device)->peaks,
    };
    vt_walk_add_device(r, device);
    vt_map_put(&w->by_id, id, (uint32_t)r->site_count);
    return (uint32_t)r->site_count++;
}

uint32_t vt_walk_stackless_site(struct vt_walk *w, unsigned hook, unsigned layer, unsigned device) {
    uint64_t id = vt_sites_id(w->ids, VT_NO_STACK, hook, layer, device);
    uint32_t index = vt_map_get(&w->by_id, id);
    return index == VT_MAP_NONE ? add_site(w, id, VT_NO_STACK, hook, layer, device) : index;
}

static void enter(struct vt_walk *w, uint32_t number) {
    const struct vt_replay_origin *origin = &w->r->origins[number - 1];
    size_t i =
        (size_t)(vt_walk_origin_hash(origin->word, origin->context) >> (64 - w->origin_bits));
    while (w->origin_slots[i])
        i = (i + 1) & ((1u << w->origin_bits) - 1);
    w->origin_slots[i] = number;
}

void vt_walk_start_sites(struct vt_walk *w) {
    w->origin_bits = 8;
    w->origin_slots = vt_alloc((size_t)1 << w->origin_bits, sizeof *w->origin_slots);
}

/* At most a quarter of the slots is used, so nearly every origin is found in its first slot. */
void vt_walk_enter_origins(struct vt_walk *w) {
    free(w->origin_slots);
    while (w->r->origin_count - w->before_origins > (1u << w->origin_bits) / 4)
        w->origin_bits++;
    w->origin_slots = vt_alloc((size_t)1 << w->origin_bits, sizeof *w->origin_slots);
    for (uint32_t number = w->before_origins + 1; number <= w->r->origin_count; number++)
        enter(w, number);
}

uint32_t vt_walk_add_origin(struct vt_walk *w, uint64_t word, unsigned context) {
    struct vt_replay *r = w->r;
    unsigned kind = vt_word_kind(word), layer = vt_kind_layer(kind), hook = vt_word_hook(word);
    unsigned device = has_device(layer) ? vt_word_type(word) : VT_DEVICE_HOST;
    uint32_t stack = vt_walk_stack(w, word);
    uint64_t id = vt_sites_id(w->ids, stack, hook, layer, device);
    uint32_t site = vt_map_get(&w->by_id, id);
    if (site == VT_MAP_NONE)
        site = add_site(w, id, stack, hook, layer, device);
    r->sites[site].pooled |= kind == VT_KIND_POOL;
    r->sites[site].graph |= kind == VT_KIND_GRAPH;
    r->sites[site].other |= kind != VT_KIND_GRAPH;
    *VT_ADD(r->origins, r->origin_count, r->origin_room) =
        (struct vt_replay_origin){.word = word,
                                  .site = site,
                                  .stack = stack,
                                  .account = vt_walk_account(r, layer, device),
                                  .context = (uint16_t)context,
                                  .layer = (uint8_t)layer,
                                  .of_context = vt_kind_owner(kind) == VT_OWNER_CONTEXT};
    r->origins[r->origin_count - 1].account->used = true;
    if (w->history)
        r->origins[r->origin_count - 1].single =
            vt_operations_single(&w->operations, w->log, stack);
    if (r->origin_count - w->before_origins > (1u << w->origin_bits) / 4)
        vt_walk_enter_origins(w);
    else
        enter(w, r->origin_count);
    return r->origin_count - 1;
}

/* The site of all memory of a layer and device from before the window. */
static uint32_t before_site(struct vt_walk *w, const struct vt_replay_site *old) {
    uint32_t index = vt_walk_stackless_site(w, 0, old->layer, old->device);
    w->r->sites[index].before = true;
    w->r->sites[index].pooled |= old->pooled;
    w->r->sites[index].segments |= old->segments;
    w->r->sites[index].segments_hook |= old->segments_hook;
    return index;
}

void vt_walk_restart_sites(struct vt_walk *w) {
    struct vt_replay *r = w->r;
    struct vt_replay_site *old = r->sites;
    const struct vt_address *entry;
    vt_walk_close_sites(w);
    vt_walk_start_sites(w);
    w->before_origins = r->origin_count;
    r->sites = NULL;
    r->site_count = r->site_room = 0;
    for (size_t at = 0; (entry = vt_addresses_next(&r->live, &at));) {
        struct vt_replay_origin *origin = &r->origins[entry->origin];
        if (!origin->before)
            origin->site = before_site(w, &old[origin->site]);
        origin->before = true;
    }
    free(old);
}

void vt_walk_close_sites(struct vt_walk *w) {
    free(w->origin_slots);
    w->origin_slots = NULL;
    vt_map_free(&w->by_id);
}
