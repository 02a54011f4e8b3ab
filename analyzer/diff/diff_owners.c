/* SPDX-License-Identifier: MIT */
/*
 * The comparison of two runs by owner (see diff.h): what one name holds before and after. A name is
 * the same in both runs, however its memory was allocated.
 */
#include "diff.h"

#include <stdlib.h>
#include <string.h>

struct collecting {
    struct vt_diff *diff;
    struct vt_map by_id;
    uint32_t room;
};

static void collect(struct collecting *c, const struct vt_model *model, unsigned side) {
    struct vt_diff *d = c->diff;
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct vt_process *p = &model->processes[i];
        const struct vt_snapshot *s = vt_process_snapshot_shown(p);
        d->owners_known[side] |= s != NULL;
        for (uint32_t k = 0; s && k < s->owner_count; k++) {
            uint32_t at = vt_map_get(&c->by_id, s->owners[k].id);
            if (!s->owners[k].count)
                continue;
            if (at == VT_MAP_NONE) {
                at = d->owner_count;
                VT_GROW(d->owners, d->owner_count, c->room);
                d->owners[d->owner_count++] = (struct vt_diff_owner){0};
                vt_map_put(&c->by_id, s->owners[k].id, at);
            }
            d->owners[at].process = p; /* as it is called after, if it is there then */
            d->owners[at].owner = &s->owners[k];
            d->owners[at].bytes[side] += s->owners[k].bytes;
            d->owners[at].count[side] += s->owners[k].count;
        }
    }
}

static uint64_t change(const struct vt_diff_owner *o) {
    return o->bytes[0] > o->bytes[1] ? o->bytes[0] - o->bytes[1] : o->bytes[1] - o->bytes[0];
}

static int by_change(const void *a, const void *b) {
    const struct vt_diff_owner *x = a, *y = b;
    return VT_ORDER({x->bytes[1] <= x->bytes[0], y->bytes[1] <= y->bytes[0]},
                    {change(y), change(x)}, {x->owner->id, y->owner->id});
}

void vt_diff_owners_make(const struct vt_model *before, const struct vt_model *after,
                         struct vt_diff *diff) {
    struct collecting c = {.diff = diff};
    collect(&c, before, 0);
    collect(&c, after, 1);
    vt_map_free(&c.by_id);
    vt_sort(diff->owners, diff->owner_count, sizeof *diff->owners, by_change);
}
