/* SPDX-License-Identifier: MIT */
/*
 * The comparison of two runs by owner (see diff.h): the memory of each name before and after. A name means the same
 * owner in both runs, however its memory was allocated. Two names may still mean the same memory: a weight is
 * `self.fc.weight` in forward(), and `trainer.model.fc.weight` in main(). This is assumed if one site allocated the
 * memory for the same role, and the names have a common end, the sizes are equal, or there is no other candidate.
 */
#include "diff.h"

#include <stdlib.h>
#include <string.h>

/* At most so many owners that only one run has are compared with the other run's. */
#define COMPARED 500

struct collecting {
    struct vt_diff *diff;
    struct vt_map by_id;
    uint32_t room;
};

static void add_owner(struct collecting *c, const struct vt_process *p,
                      const struct vt_memory_owner *owner, unsigned side) {
    struct vt_diff *d = c->diff;
    uint32_t at = vt_map_get(&c->by_id, owner->id);
    if (!owner->count)
        return;
    if (at == VT_MAP_NONE) {
        at = d->owner_count;
        VT_GROW(d->owners, d->owner_count, c->room);
        d->owners[d->owner_count++] = (struct vt_diff_owner){0};
        vt_map_put(&c->by_id, owner->id, at);
    }
    d->owners[at].process[side] = p;
    d->owners[at].owner[side] = owner;
    d->owners[at].bytes[side] += owner->bytes;
    d->owners[at].count[side] += owner->count;
}

static void collect(struct collecting *c, const struct vt_model *model, unsigned side) {
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct vt_snapshot *s = c->diff->moments.of[side][i];
        for (uint32_t k = 0; s && k < s->owner_count; k++)
            add_owner(c, &model->processes[i], &s->owners[k], side);
    }
}

/* --- memory with two names --- */

/* An owner found in only one run. */
struct single {
    struct vt_diff_owner *row;
    const struct vt_memory_owner *owner;
    uint32_t site; /* index in vt_diff.rows: the site with most of its memory */
    uint64_t bytes, count;
    bool matched;
};

/* Numbers a run's sites by the rows that they are in. */
static void number_sites(const struct vt_diff *d, unsigned side, struct vt_map *numbers) {
    for (uint32_t i = 0; i < d->count && d->owner_count; i++) {
        if (d->rows[i].sides[side].there)
            vt_map_put(numbers, vt_diff_site_key(d->rows[i].sides[side].site), i);
    }
}

static int by_size(const void *a, const void *b) {
    const struct single *x = a, *y = b;
    return VT_ORDER({y->bytes, x->bytes}, {x->owner->id, y->owner->id});
}

/* The owners found in only one run, the largest first. */
static struct single *singles_of(struct vt_diff *d, unsigned side, uint32_t *count) {
    struct single *singles = vt_alloc(d->owner_count, sizeof *singles);
    VT_SCOPED_MAP numbers = {0};
    number_sites(d, side, &numbers);
    *count = 0;
    for (uint32_t i = 0; i < d->owner_count; i++) {
        struct vt_diff_owner *row = &d->owners[i];
        const struct vt_memory_owner *owner = row->owner[side];
        if (!owner || row->owner[!side] || !owner->site_count)
            continue;
        uint32_t site = vt_map_get(
            &numbers, vt_diff_site_key(&row->process[side]->sites[owner->sites[0].site]));
        if (site != VT_MAP_NONE)
            singles[(*count)++] = (struct single){
                row, owner, site, row->bytes[side], row->count[side], false,
            };
    }
    vt_sort(singles, *count, sizeof *singles, by_size);
    if (*count > COMPARED)
        *count = COMPARED;
    return singles;
}

/* The offset of the last part of the name's first `length` characters. */
static size_t last_part(const char *name, size_t length) {
    while (length && name[length - 1] != '.')
        length--;
    return length;
}

/* The number of common parts at the ends of two names: two for `self.fc.weight` and `model.fc.weight`. */
static unsigned common_end(const struct vt_memory_owner *x, const struct vt_memory_owner *y) {
    const char *a = x->container, *b = y->container;
    size_t n = x->container_length, m = y->container_length;
    unsigned parts = 0;
    while (n && m) {
        size_t i = last_part(a, n), j = last_part(b, m);
        if (n - i != m - j || memcmp(a + i, b + j, n - i) != 0)
            break;
        parts++;
        n = i ? i - 1 : 0;
        m = j ? j - 1 : 0;
    }
    return parts;
}

static void join_singles(struct single *before, struct single *after) {
    struct vt_diff_owner *row = before->row;
    row->process[1] = after->row->process[1];
    row->owner[1] = after->owner;
    row->bytes[1] = after->bytes;
    row->count[1] = after->count;
    after->row->owner[1] = NULL; /* the row now has no owner, so it is dropped */
    before->matched = after->matched = true;
}

static bool may_match(const struct single *a, const struct single *b) {
    return !a->matched && !b->matched && a->site == b->site &&
           a->owner->purpose == b->owner->purpose;
}

struct pair {
    uint32_t before, after; /* indices, the largest first */
    unsigned common;
    bool same_size;
};

static int by_likeness(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    return VT_ORDER({y->common, x->common}, {y->same_size, x->same_size}, {x->before, y->before},
                    {x->after, y->after});
}

static void join_alike(struct single *a, uint32_t n, struct single *b, uint32_t m) {
    VT_SCOPED struct pair *pairs = NULL;
    uint32_t count = 0, room = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < m; j++) {
            if (!may_match(&a[i], &b[j]))
                continue;
            bool same_size = a[i].bytes == b[j].bytes && a[i].count == b[j].count;
            unsigned common = common_end(a[i].owner, b[j].owner);
            if (!common && !same_size)
                continue;
            VT_GROW(pairs, count, room);
            pairs[count++] = (struct pair){i, j, common, same_size};
        }
    vt_sort(pairs, count, sizeof *pairs, by_likeness);
    for (uint32_t i = 0; i < count; i++)
        if (!a[pairs[i].before].matched && !b[pairs[i].after].matched)
            join_singles(&a[pairs[i].before], &b[pairs[i].after]);
}

/* The only item of `list` that may match; NULL: none, or several. */
static struct single *only_one(const struct single *one, struct single *list, uint32_t count) {
    struct single *found = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (!may_match(one, &list[i]))
            continue;
        if (found)
            return NULL;
        found = &list[i];
    }
    return found;
}

/* Marks owners that one run's snapshot did not find although their site holds about as much in both. */
static void mark_unseen(const struct vt_diff *d, struct single *singles, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const struct vt_diff_row *row = &d->rows[singles[i].site];
        uint64_t a = row->bytes[0], b = row->bytes[1];
        if (!singles[i].matched && !d->moments.tell && !row->leak)
            singles[i].row->unseen = (a < b ? a : b) >= (a < b ? b : a) / 2;
    }
}

static void join_names(struct vt_diff *d) {
    uint32_t n, m;
    VT_SCOPED struct single *a = singles_of(d, 0, &n), *b = singles_of(d, 1, &m);
    join_alike(a, n, b, m);
    for (uint32_t i = 0; i < n; i++) {
        struct single *other = only_one(&a[i], b, m);
        if (other && only_one(other, a, n) == &a[i])
            join_singles(&a[i], other);
    }
    mark_unseen(d, a, n);
    mark_unseen(d, b, m);
}

/* Whether an owner missing in the other run is known to hold nothing there. Memory kept by the exception that ended the
 * program can be compared only with a run that also ended by such an exception. */
static bool is_comparable(const struct vt_diff *d, const struct vt_diff_owner *o) {
    unsigned side = vt_diff_owner_side(o);
    return (o->owner[0] && o->owner[1]) ||
           (d->moments.tell && !vt_owner_was_ended(o->process[side], o->owner[side]));
}

/* Drops rows that were merged into others. */
static void finish_rows(struct vt_diff *d) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < d->owner_count; i++) {
        if (!d->owners[i].owner[0] && !d->owners[i].owner[1])
            continue;
        d->owners[i].comparable = is_comparable(d, &d->owners[i]);
        d->owners[left++] = d->owners[i];
    }
    d->owner_count = left;
}

static uint64_t owner_change(const struct vt_diff_owner *o) {
    return o->bytes[0] > o->bytes[1] ? o->bytes[0] - o->bytes[1] : o->bytes[1] - o->bytes[0];
}

static uint64_t id_of(const struct vt_diff_owner *o) {
    return o->owner[vt_diff_owner_side(o)]->id;
}

static int by_change(const void *a, const void *b) {
    const struct vt_diff_owner *x = a, *y = b;
    return VT_ORDER({owner_change(y), owner_change(x)}, {y->bytes[1], x->bytes[1]},
                    {id_of(x), id_of(y)});
}

void vt_diff_owners_make(const struct vt_model *before, const struct vt_model *after,
                         struct vt_diff *diff) {
    struct collecting c = {.diff = diff};
    collect(&c, before, 0);
    collect(&c, after, 1);
    vt_map_free(&c.by_id);
    join_names(diff);
    finish_rows(diff);
    vt_sort(diff->owners, diff->owner_count, sizeof *diff->owners, by_change);
}
