/* SPDX-License-Identifier: MIT */
/*
 * Which sites are kept by bounded owners, such as a functools cache, a deque with a maxlen, an array of fixed length?
 * Their memory stops growing when they are full. It is no leak if it then fits into the device.
 *
 * The bound limits the owner's entries, not the memory behind an entry: each list in a cache of three lists may grow.
 * As elsewhere, the nested container with more items counts as growing. The number of owners may grow as well: the
 * owners count as one only if each has more entries than there are owners.
 *
 * Called by owners.c to read the bounds from a snapshot, and by analysis.c to apply them once growth is known.
 */
#include "growth_search.h"
#include "steps.h"

#include <stdlib.h>
#include <string.h>

/* The memory of a site that one owner, or one bounded container, holds. */
struct holding {
    uint64_t key;
    uint32_t site;
    uint32_t step; /* the container's step, or that of an array's slot */
    uint64_t bytes, blocks, largest;
    uint64_t containers, entries, capacity; /* 0: no bound is known */
    /* For a variable of C or C++: the number of words on each known path, and how many blocks have unknown paths. */
    uint32_t words;
    uint64_t unknown;
    bool other_paths; /* some paths pass through no array, or through more words */
};

/* `what`: an array in which an owner has slots, or a name under which it holds memory (vt_memory_owner.name_id). */
struct of_holding {
    uint32_t holding;
    uint64_t what;
};
struct list {
    struct of_holding *items;
    size_t count, room;
    struct vt_map known;
};

struct taking {
    const struct vt_sources *from;
    const uint32_t *containers; /* vt_bounds_containers */
    struct holding *holdings;
    size_t count, room;
    struct vt_map by_key; /* site and owner -> holding */
    struct list arrays, names;
    struct vt_map slots;      /* array and index: in use */
    struct vt_map slots_used; /* array -> how many of its slots are in use */
};

/* Adds an item to a list. False: it was there. */
static bool add_to(struct list *list, uint32_t holding, uint64_t what) {
    if (!vt_map_add_key(&list->known, vt_mix(vt_mix(what) + holding)))
        return false;
    *VT_ADD(list->items, list->count, list->room) = (struct of_holding){holding, what};
    return true;
}

/* --- containers of Python --- */

/* Whether a step leads to the entries of a container with a bound. */
static bool leads_to_entries(const struct vt_log_step *step) {
    return step->kind == VT_STEP_INDEX ||
           (step->kind == VT_STEP_ATTRIBUTE &&
            (!strcmp(step->name, "cache") || !strcmp(step->name, "queue") ||
             !strcmp(step->name, "_queue")));
}

/* One pass suffices: a step comes after its parent. */
uint32_t *vt_bounds_containers(const struct vt_log *log) {
    uint32_t *containers = vt_alloc(log->step_count, sizeof *containers);
    for (size_t i = 0; i < log->step_count; i++) {
        uint32_t up = log->steps[i].parent;
        bool inside = up != VT_MAP_NONE && log->steps[up].capacity;
        containers[i] = inside && leads_to_entries(&log->steps[i]) ? up
                        : up != VT_MAP_NONE                        ? containers[up]
                                                                   : VT_MAP_NONE;
    }
    return containers;
}

/* --- taking --- */

static uint32_t holding_of(struct taking *t, uint32_t site, uint64_t owner, uint32_t step) {
    uint32_t known = vt_map_add(&t->by_key, vt_mix(owner + site), (uint32_t)t->count);
    if (known == t->count)
        *VT_ADD(t->holdings, t->count, t->room) =
            (struct holding){.key = owner, .site = site, .step = step};
    return known;
}

/* Counts a used slot in its array, and the array in the holding. */
static void add_slot(struct taking *t, uint32_t holding, const struct vt_slot *slot) {
    struct holding *k = &t->holdings[holding];
    k->other_paths |= k->words && k->words != slot->words;
    k->words = slot->words;
    if (vt_map_add_key(&t->slots, vt_mix(slot->array + slot->index)))
        vt_map_put(&t->slots_used, slot->array, vt_map_add(&t->slots_used, slot->array, 0) + 1);
    if (!add_to(&t->arrays, holding, slot->array))
        return;
    k->containers++;
    k->capacity += slot->capacity;
}

static bool is_variable(const struct vt_log_step *step) {
    return step->kind == VT_STEP_GLOBAL || step->kind == VT_STEP_THREAD_LOCAL;
}

/* Adds blocks held by a variable of C or C++. Unknown paths are assumed to be like the known ones. */
static void add_variable(struct taking *t, uint32_t holding, const struct vt_log_step *root,
                         uint64_t blocks) {
    struct vt_slot slot;
    if (is_variable(root) && (!root->around || root->in_doubt))
        t->holdings[holding].unknown += blocks;
    else if (vt_native_root_slot(t->from->log, t->from->symbols, root, &slot))
        add_slot(t, holding, &slot);
    else
        t->holdings[holding].other_paths = true;
}

static void add_sum(struct taking *t, uint32_t site, const struct vt_owned_sum *sum) {
    const struct vt_log *log = t->from->log;
    uint32_t step = vt_owners_named_step(t->from, sum), name = VT_MAP_NONE, inside = VT_MAP_NONE;
    if (step != VT_MAP_NONE) {
        name = vt_owner_names_of(t->from->names, step);
        inside = t->containers[step];
    }
    bool bounded = inside != VT_MAP_NONE;
    uint32_t holding = holding_of(t, site, vt_mix((bounded ? inside : name) * 2ull + bounded),
                                  bounded ? inside : step);
    struct holding *k = &t->holdings[holding];
    if (name != VT_MAP_NONE)
        add_to(&t->names, holding, name);
    if (bounded) {
        k->containers = log->steps[inside].counts.objects;
        k->entries = log->steps[inside].entries;
        k->capacity = log->steps[inside].capacity;
    }
    if (sum->further)
        return;
    k->bytes += sum->bytes;
    k->blocks += sum->count;
    k->largest = sum->largest > k->largest ? sum->largest : k->largest;
    if (!bounded && step != VT_MAP_NONE)
        add_variable(t, holding, &log->steps[log->steps[step].root], sum->count);
}

/* Counts the entries of arrays: slots in use by any call site. */
static void count_slots(struct taking *t) {
    for (size_t i = 0; i < t->arrays.count; i++)
        t->holdings[t->arrays.items[i].holding].entries +=
            vt_map_get(&t->slots_used, t->arrays.items[i].what);
    for (size_t i = 0; i < t->count; i++) {
        struct holding *k = &t->holdings[i];
        if (k->words)
            k->entries += k->unknown;
        if (k->other_paths || k->entries > k->capacity)
            k->capacity = 0;
    }
}

/* Marks the owners of a snapshot that have a bound. All memory under an owner's name must be bounded. */
static void mark_owners(const struct taking *t, struct vt_snapshot *named) {
    enum { NO_HOLDING = INT32_MAX };
    VT_SCOPED_MAP bounded = {0};
    for (size_t i = 0; i < t->names.count; i++) {
        const struct of_holding *n = &t->names.items[i];
        bool all = t->holdings[n->holding].capacity && vt_map_get(&bounded, n->what) != NO_HOLDING;
        vt_map_put(&bounded, n->what, all ? n->holding : NO_HOLDING);
    }
    for (uint32_t i = 0; i < named->owner_count; i++) {
        uint32_t holding = vt_map_get(&bounded, named->owners[i].name_id);
        named->owners[i].entries = holding < NO_HOLDING ? t->holdings[holding].entries : 0;
    }
}

/* The sites that may have a bounded owner. Free it. */
static bool *candidate_sites(const struct vt_sources *from, const struct vt_replay_snapshot *s,
                             const uint32_t *containers, const struct vt_process *p) {
    bool *candidates = vt_alloc(p->site_count, sizeof *candidates);
    for (size_t i = 0; i < s->sum_count; i++) {
        uint32_t step = s->sums[i].step, site = from->index[s->sums[i].site];
        if (step != VT_MAP_NONE && site != VT_NO_SITE)
            candidates[site] |= is_variable(&from->log->steps[from->log->steps[step].root]) ||
                                containers[step] != VT_MAP_NONE;
    }
    return candidates;
}

/* Whether the number of entries grows, rather than the memory behind each or the number of owners. */
static bool grows_by_entries(const struct vt_bound *b) {
    return b->entries && b->blocks / b->entries <= b->entries &&
           b->containers <= b->entries / b->containers;
}

/* Sets a site's bound: the sum of its owners'. */
static void give(const struct taking *t, const struct holding *holdings, size_t count,
                 struct vt_site *site) {
    struct vt_bound sum = {.entries = 0};
    const struct holding *most = NULL;
    double full = 0;
    for (size_t i = 0; i < count; i++) {
        const struct holding *k = &holdings[i];
        if (!k->capacity) {
            sum.others += k->blocks;
            continue;
        }
        most = !most || k->bytes > most->bytes ? k : most;
        sum.containers += k->containers;
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
    sum.full_bytes = vt_analysis_ahead(full);
    sum.key = most->key;
    sum.container = owner.name;
    site->bound = vt_alloc(1, sizeof sum);
    *site->bound = sum;
}

static int compare_holdings(const void *a, const void *b) {
    const struct holding *x = a, *y = b;
    return VT_ORDER({x->site, y->site}, {y->bytes, x->bytes}, {x->step, y->step});
}

void vt_bounds_mark(const struct vt_sources *from, uint32_t snapshot, const uint32_t *containers,
                    const bool *speaks, struct vt_process *p) {
    const struct vt_replay_snapshot *s = &from->replay->snapshots[snapshot];
    VT_SCOPED bool *candidates = candidate_sites(from, s, containers, p);
    struct taking t = {.from = from, .containers = containers};
    for (size_t i = 0; i < s->sum_count; i++) {
        uint32_t site = from->index[s->sums[i].site];
        if (site != VT_NO_SITE && candidates[site])
            add_sum(&t, site, &s->sums[i]);
    }
    count_slots(&t);
    mark_owners(&t, &p->snapshots[snapshot]);
    vt_sort(t.holdings, t.count, sizeof *t.holdings, compare_holdings);
    for (size_t i = 0, end; i < t.count; i = end) {
        for (end = i; end < t.count && t.holdings[end].site == t.holdings[i].site;)
            end++;
        if (speaks[t.holdings[i].site])
            give(&t, &t.holdings[i], end - i, &p->sites[t.holdings[i].site]);
    }
    free(t.holdings);
    free(t.arrays.items);
    free(t.names.items);
    vt_map_free(&t.arrays.known);
    vt_map_free(&t.names.known);
    vt_map_free(&t.by_key);
    vt_map_free(&t.slots);
    vt_map_free(&t.slots_used);
}

/* --- applying --- */

/* How many blocks of a site an owner holds, alone or together with others. */
static uint64_t count_of(const struct vt_owned_site *sites, uint32_t count, uint32_t site) {
    uint64_t blocks = 0;
    for (uint32_t i = 0; i < count; i++)
        blocks += sites[i].site == site ? sites[i].count + sites[i].shared_count : 0;
    return blocks;
}

/* How many blocks of a site the bounded owners hold at a snapshot, or the unbounded owners with one name. */
static uint64_t count_at(const struct vt_snapshot *s, uint32_t site, bool bounded,
                         const char *name) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < s->owner_count; i++) {
        const struct vt_memory_owner *o = &s->owners[i];
        if ((o->entries > 0) == bounded && (bounded || !strcmp(o->name, name)))
            count +=
                count_of(o->sites, o->site_count, site) + count_of(o->others, o->other_count, site);
    }
    return count;
}

/* Whether the unbounded owners with a name stood still: at an earlier snapshot they had nearly as many blocks of a
 * site, while the bounded ones had at most half as many. */
static bool is_constant(const struct vt_process *p, const struct vt_snapshot *now, uint32_t site,
                        const char *name, uint64_t count) {
    for (const struct vt_snapshot *s = p->snapshots; s < now; s++)
        if (count_at(s, site, true, NULL) <= count_at(now, site, true, NULL) / 2 &&
            count_at(s, site, false, name) >= count * 2 / 3)
            return true;
    return false;
}

/* Whether an unbounded owner may make a site grow: it has as many blocks as the shortest growth, and nothing proves
 * that it stands still. */
static bool others_may_grow(const struct vt_process *p, uint32_t site) {
    const struct vt_owned_list *owned = &p->sites[site].owned;
    const struct vt_snapshot *now =
        owned->owners[0].seen ? owned->owners[0].seen : vt_process_snapshot(p);
    uint64_t unknown = p->sites[site].bound->others;
    for (uint32_t i = 0; i < owned->count; i++)
        if (!owned->owners[i].owner->entries)
            unknown -= owned->owners[i].count < unknown ? owned->owners[i].count : unknown;
    for (uint32_t i = 0; i < now->owner_count; i++) {
        const struct vt_memory_owner *o = &now->owners[i];
        if (o->entries ||
            !(count_of(o->sites, o->site_count, site) + count_of(o->others, o->other_count, site)))
            continue;
        uint64_t count = count_at(now, site, false, o->name);
        if (count >= MARKED_RISES && !is_constant(p, now, site, o->name, count))
            return true;
    }
    return unknown >= MARKED_RISES;
}

/* The number of entries of a site's bounded owner at a snapshot. */
static uint64_t entries_at(const struct vt_snapshot *s, uint32_t site) {
    uint64_t entries = 0;
    for (uint32_t i = 0; i < s->owner_count; i++)
        if (s->owners[i].entries > entries &&
            count_of(s->owners[i].sites, s->owners[i].site_count, site))
            entries = s->owners[i].entries;
    return entries;
}

/* Whether the memory behind an entry grows, such as lists in a cache. Earlier snapshots show whether the blocks grew
 * with the entries. Without such snapshots, entries with equally many blocks are assumed to be complete. */
static bool entries_may_grow(const struct vt_process *p, uint32_t site) {
    const struct vt_owned_by *first = p->sites[site].owned.owners;
    const struct vt_snapshot *now = first->seen ? first->seen : vt_process_snapshot(p);
    uint64_t blocks = count_at(now, site, true, NULL), entries = entries_at(now, site);
    bool shown = blocks <= entries || blocks % entries == 0;
    for (const struct vt_snapshot *s = p->snapshots; s < now; s++) {
        uint64_t before = count_at(s, site, true, NULL), had = entries_at(s, site);
        if (!before || before + MARKED_RISES > blocks)
            continue;
        double by_entries = ((double)entries - (double)had) * (double)blocks / (double)entries;
        if (by_entries < (double)(blocks - before) / 2)
            return true;
        shown = true;
    }
    return !shown;
}

/* Whether a bound explains a site. If the site grew, no other owner may be growing. If not, bounded owners must hold
 * all its blocks, at least as many as in the shortest growth. */
static bool explains(const struct vt_process *p, uint32_t index) {
    const struct vt_site *site = &p->sites[index];
    const struct vt_bound *b = site->bound;
    double each = (double)b->blocks / (double)b->entries;
    bool grew_since = site->owned.count && site->owned.owners[0].seen &&
                      (double)site->held_count > (double)b->capacity * each + (double)b->others;
    if (site->before || vt_site_freed_at_exit(p, site) || b->others >= b->blocks || grew_since)
        return false;
    if (site->growth || site->inconclusive)
        return !entries_may_grow(p, index) && !others_may_grow(p, index);
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
        if (site->bound && !explains(p, i)) {
            free(site->bound);
            site->bound = NULL;
        }
        if (!site->bound)
            continue;
        uint32_t container = vt_map_add(&known, key_on_device(site), count);
        count += container == count;
        more[container] += site->bound->full_bytes - site->bound->bytes;
    }
    for (uint32_t i = 0; i < p->site_count; i++) {
        struct vt_site *site = &p->sites[i];
        if (!site->bound)
            continue;
        site->bound->too_large =
            more[vt_map_get(&known, key_on_device(site))] > vt_growth_room(p, site);
        if (site->bound->too_large)
            continue;
        site->inconclusive = VT_RULE_NONE;
        site->bound->growth = site->growth;
        site->growth = NULL;
    }
}
