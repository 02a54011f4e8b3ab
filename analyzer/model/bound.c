/* SPDX-License-Identifier: MIT */
/*
 * Memory kept by bounded containers, as figures and texts (see bound.h).
 */
#include "model.h"

bool vt_leak_bound(const struct vt_process *p, const struct vt_leak *leak, struct vt_bound *sum) {
    bool any = false;
    for (uint32_t i = 0; i < leak->site_count; i++) {
        const struct vt_bound *bound = p->sites[leak->sites[i]].bound;
        if (!bound)
            continue;
        uint64_t full = bound->full_bytes + (any ? sum->full_bytes : 0);
        if (!any)
            *sum = *bound;
        sum->full_bytes = full;
        any = true;
    }
    return any;
}

char *vt_bound_text(const struct vt_bound *b) {
    struct vt_string text = {0};
    const char *entries = VT_NUMBER(b->entries);
    vt_string_add(&text, b->container);
    if (b->containers > 1)
        vt_string_format(&text, " and %s like it have", VT_NUMBER(b->containers - 1));
    else
        vt_string_add(&text, " has");
    if (b->entries == b->capacity) {
        vt_string_format(&text, " all of the %s entries that %s", entries,
                         b->containers > 1 ? "they take" : "it takes");
        return text.text;
    }
    vt_string_format(&text, " %s of at most %s entries; full, about %s", entries,
                     VT_NUMBER(b->capacity), VT_BYTES(b->full_bytes));
    if (b->too_large)
        vt_string_add(&text, ", more than the device can take");
    return text.text;
}
