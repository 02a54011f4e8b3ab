/* SPDX-License-Identifier: MIT */
/*
 * Owners shown as one group: all items of a container, all keys of a dictionary, and owners too small to be listed
 * separately. Leaks and the tables of owners share these groups (analysis/owners.c, content/report_owners.c).
 */
#include "model.h"

#include <stdlib.h>
#include <string.h>

/* From 1 / SMALL of all bytes or blocks on, an owner is listed separately; a variable in a table from 1 / SMALL_ROW
 * on. */
enum { SMALL = 10, SMALL_ROW = 50 };

enum { FEW = 3 }; /* at most so many variables are named */

struct grouping {
    struct vt_owner_group *groups;
    bool by_purpose;
    uint32_t count;
    uint64_t bytes, blocks; /* in all groups */
};

/* The stages of merging groups: items of one dictionary; small groups whose names have a common start; small variables
 * of one module or function. */
enum stage { KEYS, NEAR, VARIABLES };

/* Groups that may be merged. */
struct bucket {
    uint32_t members, largest, child;
    uint64_t bytes;
    bool differ; /* their next steps differ */
    bool whole;  /* one of them has the common part as its whole name */
    bool chosen;
    const char *item_type; /* of the nested containers; NULL: unknown, or they differ */
};

/* Names a group by the first steps of its owner's name. */
static void name_by_steps(struct vt_owner_group *g, uint32_t steps) {
    struct vt_memory_owner *o = &g->owner;
    vt_owner_set_container(o, o->steps[steps - 1], o->types[steps - 1]);
    o->container_steps = steps;
}

static uint32_t in_common(const struct vt_memory_owner *a, const struct vt_memory_owner *b) {
    uint32_t most =
                 a->container_steps < b->container_steps ? a->container_steps : b->container_steps,
             i = 0;
    while (i < most && a->steps[i].id == b->steps[i].id)
        i++;
    return i ? i : 1;
}

/* Memory for one purpose is spread over a model: the model's variable is a better name than the common steps. */
static void name_by_variable(struct vt_owner_group *g) {
    const struct vt_memory_owner *o = &g->owner;
    uint32_t steps = o->container_steps, most = steps && !strcmp(o->path[0], "self") ? 2 : 1;
    if (g->containers < 2 || !steps)
        return;
    steps = steps > most ? most : steps;
    while (steps > 1 && !strcmp(o->path[steps - 1], "[*]"))
        steps--;
    name_by_steps(g, steps);
}

static void add_owner(struct grouping *all, struct vt_map *known, const struct vt_owned_by *by) {
    const struct vt_memory_owner *o = by->owner;
    bool whole = all->by_purpose && o->purpose != VT_PURPOSE_OTHER;
    uint64_t key = (uint64_t)(whole ? o->variable : o->container_id) * 2 + whole;
    uint32_t at = vt_map_add(known, key, all->count);
    if (at == all->count)
        all->groups[all->count++] = (struct vt_owner_group){.owner = *o,
                                                            .containers = 1,
                                                            .of_purpose = whole,
                                                            .seen = by->seen,
                                                            .still = by->still};
    struct vt_owner_group *g = &all->groups[at];
    if (whole && g->owner.container_id != o->container_id && strcmp(g->owner.name, o->name) != 0) {
        g->containers++;
        if (g->owner.container_steps && o->container_steps)
            name_by_steps(g, in_common(&g->owner, o));
    }
    g->bytes += by->bytes;
    g->count += by->count;
    all->bytes += by->bytes;
    all->blocks += by->count;
}

/* --- merging --- */

/* Whether a name continues after its first steps with a key or an item of a container. */
static bool goes_by_key(const struct vt_owner_group *g, uint32_t steps) {
    return g->owner.container_steps > steps && strchr("[{", g->owner.path[steps][0]);
}

static bool may_join(const struct grouping *all, const struct vt_owner_group *g, uint32_t steps,
                     enum stage stage) {
    if (g->of_purpose || !g->owner.container_steps || g->owner.container_steps < steps)
        return false;
    if (stage == KEYS)
        return g->owner.container_steps == steps || goes_by_key(g, steps);
    unsigned part = stage == VARIABLES && all->by_purpose ? SMALL_ROW : SMALL;
    return g->bytes < all->bytes / part && g->count < all->blocks / part;
}

static uint64_t hash_text(uint64_t hash, const char *text) {
    return vt_hash_bytes(hash + 1, text ? text : "", text ? strlen(text) : 0);
}

/* Groups with the same key are merged. */
static uint64_t bucket_key(const struct vt_owner_group *g, uint32_t steps, enum stage stage) {
    const struct vt_root *r = &g->owner.root;
    if (stage != VARIABLES)
        return g->owner.steps[steps - 1].id;
    return hash_text(hash_text(hash_text(r->kind, r->module), r->function), r->file) + r->line;
}

/* The class of the nested containers, as far as a group shows it: "list". NULL: unknown. */
static const char *item_type(const struct vt_owner_group *g, uint32_t steps) {
    const struct vt_memory_owner *o = &g->owner;
    bool container = o->item_type || o->name_count > o->container_steps;
    return o->container_steps == steps + 1 && container ? o->container_type : NULL;
}

static void put_in(struct bucket *b, const struct grouping *all, uint32_t i, uint32_t steps,
                   enum stage stage) {
    const struct vt_owner_group *g = &all->groups[i];
    bool whole = g->owner.container_steps == steps;
    uint32_t child = whole ? VT_MAP_NONE : g->owner.steps[steps].id;
    const char *type = whole || stage != KEYS ? NULL : item_type(g, steps);
    if (!b->members++) {
        *b = (struct bucket){.members = 1, .largest = i, .child = child, .item_type = type};
    } else {
        b->differ |= child != b->child;
        b->item_type = type && b->item_type && !strcmp(type, b->item_type) ? type : NULL;
        b->largest = g->bytes > all->groups[b->largest].bytes ? i : b->largest;
    }
    b->whole |= whole;
    b->bytes += g->bytes;
    /* a key that holds nearly everything is a better name than its dictionary */
    bool one = stage == KEYS && !b->whole && all->groups[b->largest].bytes >= b->bytes / 10 * 9;
    b->chosen = b->differ && !one && (stage != VARIABLES || b->members > FEW);
}

/* Adds a group to another one. */
static void fold(struct vt_owner_group *into, struct vt_owner_group *g) {
    into->bytes += g->bytes;
    into->count += g->count;
    into->containers += g->containers;
    into->still |= g->still;
    into->owner.may_be_unused |= g->owner.may_be_unused;
    into->seen = g->seen ? into->seen : NULL;
    g->containers = 0; /* merged */
}

static void merge_bucket(struct vt_owner_group *g, const struct bucket *b, uint32_t steps,
                         enum stage stage) {
    name_by_steps(g, stage == VARIABLES ? 1 : steps);
    g->owner.item_type = b->item_type;
    if (stage == VARIABLES) {
        g->owner.container_type = NULL;
        g->owner.more_variables = b->members - 1;
    }
}

/* Merges the groups whose names share the first `steps` steps. */
static void join(struct grouping *all, uint32_t steps, enum stage stage) {
    VT_SCOPED struct bucket *buckets = vt_alloc(all->count, sizeof *buckets);
    uint32_t *of = vt_alloc(all->count, sizeof *of), bucket_count = 0, kept = 0;
    VT_SCOPED_MAP known = {0};
    for (uint32_t i = 0; i < all->count; i++) {
        of[i] = VT_MAP_NONE;
        if (!may_join(all, &all->groups[i], steps, stage))
            continue;
        of[i] = vt_map_add(&known, bucket_key(&all->groups[i], steps, stage), bucket_count);
        bucket_count += of[i] == bucket_count;
        put_in(&buckets[of[i]], all, i, steps, stage);
    }
    for (uint32_t i = 0; i < all->count; i++) {
        const struct bucket *b = of[i] == VT_MAP_NONE ? NULL : &buckets[of[i]];
        if (b && b->chosen && b->largest != i)
            fold(&all->groups[b->largest], &all->groups[i]);
    }
    for (uint32_t i = 0; i < bucket_count; i++)
        if (buckets[i].chosen)
            merge_bucket(&all->groups[buckets[i].largest], &buckets[i], steps, stage);
    for (uint32_t i = 0; i < all->count; i++)
        if (all->groups[i].containers)
            all->groups[kept++] = all->groups[i];
    all->count = kept;
    free(of);
}

static int larger_first(const void *a, const void *b) {
    const struct vt_owner_group *x = a, *y = b;
    return VT_ORDER({y->bytes, x->bytes}, {y->count, x->count}, {x->owner.id, y->owner.id});
}

struct vt_owner_group *vt_owner_groups(const struct vt_owned_by *owned, uint32_t count,
                                       bool by_purpose, uint32_t *group_count) {
    struct grouping all = {.groups = vt_alloc(count, sizeof *all.groups), .by_purpose = by_purpose};
    VT_SCOPED_MAP known = {0};
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < count; i++)
        add_owner(&all, &known, &owned[i]);
    for (uint32_t i = 0; i < all.count; i++) {
        uint32_t steps = all.groups[i].owner.container_steps;
        deepest = steps > deepest ? steps : deepest;
        if (all.groups[i].of_purpose)
            name_by_variable(&all.groups[i]);
    }
    for (enum stage stage = KEYS; stage <= NEAR; stage++)
        for (uint32_t steps = deepest; steps && all.count > 1; steps--)
            join(&all, steps, stage);
    if (all.count > 1)
        join(&all, 0, VARIABLES);
    vt_sort(all.groups, all.count, sizeof *all.groups, larger_first);
    *group_count = all.count;
    return all.groups;
}

struct vt_owner_group *vt_owner_groups_seen(const struct vt_process *p, const struct vt_snapshot *s,
                                            uint64_t device, uint32_t *group_count) {
    VT_SCOPED struct vt_owned_by *owned = vt_alloc(s->owner_count, sizeof *owned);
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->owner_count; i++) {
        struct vt_owned_by *by = &owned[count];
        *by = (struct vt_owned_by){.owner = &s->owners[i]};
        by->bytes = vt_owner_bytes_on(p, by->owner, device, &by->count);
        count += by->count > 0;
    }
    struct vt_owner_group *groups = vt_owner_groups(owned, count, true, group_count);
    return groups;
}

bool vt_owner_group_has(const struct vt_owner_group *g, const struct vt_memory_owner *o) {
    uint32_t steps = g->owner.container_steps;
    return o->container_id == g->owner.container_id ||
           (steps && steps <= o->container_steps &&
            o->steps[steps - 1].id == g->owner.container_id);
}
