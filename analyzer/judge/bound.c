/* SPDX-License-Identifier: MIT */
/*
 * Which sites are kept by holders with a bound: a cache of the functools module, a deque with a maxlen,
 * an array of fixed length. What such a holder keeps stops growing when it is full, so it is no leak,
 * if the device can take it then.
 *
 * The holder's entries are its own; what hangs on an entry may grow for itself: a cache of three lists,
 * of which each gets longer. As elsewhere, of a container of containers the one with more items is what
 * grows. And holders may become more and more: they are as one only if each has more entries than there
 * are holders.
 *
 * owners.c has the sites' bounds taken from a snapshot, build.c has them judged when it is known what
 * grows.
 */
#include "growth_search.h"
#include "parts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* What one owner, or one container with a bound, keeps of a site. */
struct keeper {
    uint64_t key;
    uint32_t site;
    uint32_t step; /* of the container; of an array, of one of its slots */
    uint64_t bytes, blocks, largest;
    uint64_t holders, entries, capacity; /* 0: it has no bound, as far as is known */
    /* A variable of C or C++: through how many words all ways go that are known, and how many blocks have
     * ways that are not. */
    uint32_t words;
    uint64_t unknown;
    bool other_ways; /* some go through no array, or through more words */
};

/* An array of which a keeper has slots. */
struct array_of {
    uint32_t keeper;
    uint64_t array;
};

struct taking {
    const struct vt_sources *from;
    struct keeper *keepers;
    size_t count, room;
    struct array_of *arrays;
    size_t array_count, array_room;
    struct vt_map by_key;     /* site and owner -> keeper */
    struct vt_map slots;      /* array and index: in use */
    struct vt_map slots_used; /* array -> how many of its slots are in use */
    struct vt_map known;      /* keeper and array: counted */
};

/* --- containers of Python --- */

/* Whether a step leads to the entries of a container with a bound. */
static bool leads_to_entries(const struct vt_log_step *step) {
    return step->kind == VT_STEP_INDEX ||
           (step->kind == VT_STEP_ATTRIBUTE &&
            (!strcmp(step->name, "cache") || !strcmp(step->name, "queue") ||
             !strcmp(step->name, "_queue")));
}

/* The innermost container with a bound among whose entries a way goes. VT_MAP_NONE: none. */
static uint32_t container_of(const struct vt_log *log, uint32_t step) {
    for (uint32_t up = log->steps[step].parent; up != VT_MAP_NONE;
         step = up, up = log->steps[up].parent)
        if (log->steps[up].capacity && leads_to_entries(&log->steps[step]))
            return up;
    return VT_MAP_NONE;
}

/* --- taking --- */

static uint32_t keeper_of(struct taking *t, uint32_t site, uint64_t owner, uint32_t step) {
    uint32_t known = vt_map_add(&t->by_key, vt_mix(owner + site), (uint32_t)t->count);
    if (known == t->count)
        *VT_ADD(t->keepers, t->count, t->room) =
            (struct keeper){.key = owner, .site = site, .step = step};
    return known;
}

/* Counts a slot in use for its array, and the array for the keeper. */
static void add_slot(struct taking *t, uint32_t keeper, const struct vt_slot *slot) {
    struct keeper *k = &t->keepers[keeper];
    k->other_ways |= k->words && k->words != slot->words;
    k->words = slot->words;
    if (vt_map_add_key(&t->slots, vt_mix(slot->array + slot->index)))
        vt_map_put(&t->slots_used, slot->array, vt_map_add(&t->slots_used, slot->array, 0) + 1);
    if (!vt_map_add_key(&t->known, vt_mix(slot->array + keeper)))
        return;
    k->holders++;
    k->capacity += slot->capacity;
    *VT_ADD(t->arrays, t->array_count, t->array_room) = (struct array_of){keeper, slot->array};
}

/* What a variable of C or C++ keeps: a way that is not known is as the others. */
static void add_variable(struct taking *t, uint32_t keeper, const struct vt_log_step *root,
                         uint64_t blocks) {
    struct vt_slot slot;
    if (root->kind == VT_STEP_GLOBAL && (!root->around || root->in_doubt))
        t->keepers[keeper].unknown += blocks;
    else if (vt_native_root_slot(t->from->log, t->from->symbols, root, &slot))
        add_slot(t, keeper, &slot);
    else
        t->keepers[keeper].other_ways = true;
}

static void take_sum(struct taking *t, uint32_t site, const struct vt_owned_sum *sum) {
    const struct vt_log *log = t->from->log;
    uint32_t step = vt_owners_settled_step(t->from, sum);
    uint32_t name = step == VT_MAP_NONE ? step : vt_owner_names_of(t->from->names, step);
    uint32_t container = step == VT_MAP_NONE ? step : container_of(log, step);
    bool bounded = container != VT_MAP_NONE;
    uint32_t keeper = keeper_of(t, site, vt_mix((bounded ? container : name) * 2ull + bounded),
                                bounded ? container : step);
    struct keeper *k = &t->keepers[keeper];
    k->bytes += sum->bytes;
    k->blocks += sum->count;
    k->largest = sum->largest > k->largest ? sum->largest : k->largest;
    if (bounded) {
        k->holders = log->steps[container].counts.objects;
        k->entries = log->steps[container].entries;
        k->capacity = log->steps[container].capacity;
    } else if (step != VT_MAP_NONE) {
        add_variable(t, keeper, &log->steps[log->steps[step].root], sum->count);
    }
}

/* Counts the entries of arrays: the slots in use, by whatever call site. */
static void count_slots(struct taking *t) {
    for (size_t i = 0; i < t->array_count; i++)
        t->keepers[t->arrays[i].keeper].entries += vt_map_get(&t->slots_used, t->arrays[i].array);
    for (size_t i = 0; i < t->count; i++) {
        struct keeper *k = &t->keepers[i];
        if (k->words)
            k->entries += k->unknown;
        if (k->other_ways || k->entries > k->capacity)
            k->capacity = 0;
    }
}

/* Whether it is the entries that become more: not what hangs on each, nor the holders. */
static bool grows_by_entries(const struct vt_bound *b) {
    return b->entries && b->blocks / b->entries <= b->entries &&
           b->holders <= b->entries / b->holders;
}

/* Gives a site the bound that its keepers have together. */
static void give(const struct taking *t, const struct keeper *keepers, size_t count,
                 struct vt_site *site) {
    struct vt_bound sum = {.entries = 0};
    const struct keeper *most = NULL;
    double full = 0;
    for (size_t i = 0; i < count; i++) {
        const struct keeper *k = &keepers[i];
        if (!k->capacity) {
            sum.others += k->blocks;
            sum.most_others = k->blocks > sum.most_others ? k->blocks : sum.most_others;
            continue;
        }
        most = !most || k->bytes > most->bytes ? k : most;
        sum.holders += k->holders;
        sum.entries += k->entries;
        sum.capacity += k->capacity;
        sum.blocks += k->blocks;
        sum.bytes += k->bytes;
        full += (double)k->bytes + (double)(k->capacity - k->entries) * (double)k->blocks /
                                       (double)(k->entries ? k->entries : 1) * (double)k->largest;
    }
    if (!most || !grows_by_entries(&sum))
        return;
    struct vt_memory_owner owner = {.bytes = 0};
    vt_owner_names_fill(t->from->names, most->step, &owner);
    sum.full_bytes = vt_judge_ahead(full);
    sum.key = most->key;
    sum.holder = owner.name;
    site->bound = vt_alloc(1, sizeof sum);
    *site->bound = sum;
}

static int compare_keepers(const void *a, const void *b) {
    const struct keeper *x = a, *y = b;
    return VT_ORDER({x->site, y->site}, {y->bytes, x->bytes}, {x->step, y->step});
}

void vt_bounds_take(const struct vt_sources *from, const struct vt_replay_snapshot *s,
                    const bool *speaks, struct vt_process *p) {
    struct taking t = {.from = from};
    for (size_t i = 0; i < s->sum_count; i++) {
        uint32_t site = from->index[s->sums[i].site];
        if (site != VT_NO_SITE && !s->sums[i].further)
            take_sum(&t, site, &s->sums[i]);
    }
    count_slots(&t);
    vt_sort(t.keepers, t.count, sizeof *t.keepers, compare_keepers);
    for (size_t i = 0, end; i < t.count; i = end) {
        for (end = i; end < t.count && t.keepers[end].site == t.keepers[i].site;)
            end++;
        if (speaks[t.keepers[i].site])
            give(&t, &t.keepers[i], end - i, &p->sites[t.keepers[i].site]);
    }
    free(t.keepers);
    free(t.arrays);
    vt_map_free(&t.by_key);
    vt_map_free(&t.slots);
    vt_map_free(&t.slots_used);
    vt_map_free(&t.known);
}

/* --- judging --- */

/* Whether a bound says enough of a site: of what grew, no other holder has as many blocks as a growth has
 * at least; of what did not, there are so many, and no other holder has any. */
static bool speaks_for(const struct vt_process *p, const struct vt_site *site) {
    const struct vt_bound *b = site->bound;
    double each = (double)b->blocks / (double)b->entries;
    if (site->before || vt_site_tidied(p, site) || b->others >= b->blocks ||
        (double)site->held_count > (double)b->capacity * each + (double)b->others)
        return false;
    if (site->growth || site->unjudged)
        return b->most_others < MARKED_RISES;
    return site->live_count && !b->others && b->blocks >= MARKED_RISES;
}

static uint64_t key_on_device(const struct vt_site *site) {
    return vt_mix(site->bound->key + site->device);
}

void vt_bounds_judge(struct vt_process *p) {
    VT_SCOPED_MAP known = {0};
    VT_SCOPED uint64_t *more = vt_alloc(p->site_count, sizeof *more);
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->site_count; i++) {
        struct vt_site *site = &p->sites[i];
        if (site->bound && !speaks_for(p, site)) {
            free(site->bound);
            site->bound = NULL;
        }
        if (!site->bound)
            continue;
        uint32_t holder = vt_map_add(&known, key_on_device(site), count);
        count += holder == count;
        more[holder] += site->bound->full_bytes - site->bound->bytes;
    }
    for (uint32_t i = 0; i < p->site_count; i++) {
        struct vt_site *site = &p->sites[i];
        if (!site->bound)
            continue;
        site->bound->too_large =
            more[vt_map_get(&known, key_on_device(site))] > vt_growth_room(p, site);
        if (site->bound->too_large)
            continue;
        site->unjudged = false;
        site->bound->growth = site->growth;
        site->growth = NULL;
    }
}

void vt_bounds_note(struct vt_process *p) {
    const struct vt_site *largest = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->site_count; i++) {
        const struct vt_site *site = &p->sites[i];
        if (!site->bound || site->verdict != VT_VERDICT_UNFREED ||
            !(site->bound->growth || vt_verdict_fails(p, VT_VERDICT_UNFREED, NULL)))
            continue;
        count++;
        largest = !largest || site->bound->full_bytes > largest->bound->full_bytes ? site : largest;
    }
    if (!largest)
        return;
    VT_SCOPED char *at = vt_frame_text(p, vt_stack_main_frame(largest->stack), UINT_MAX);
    VT_SCOPED char *text = vt_bound_text(largest->bound);
    VT_SCOPED char *more =
        count > 1 ? vt_formatted(" (and %u more call site%s)", count - 1, vt_plural(count - 1))
                  : vt_strdup("");
    vt_model_note(p, "%s%s: no leak, since what keeps it has a bound: %s.", at, more, text);
}
