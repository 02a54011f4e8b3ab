/* SPDX-License-Identifier: MIT */
/*
 * Who held the memory, for the HTML page: each snapshot's owners, and what the memory was for.
 */
#include "html.h"

#include <stdlib.h>

enum { SITES_OF_OWNER = 40 };

static void write_owner(struct vt_html *h, const struct vt_memory_owner *o) {
    struct vt_json *j = h->json;
    VT_SCOPED char *place = vt_owner_place(h->process, o);
    vt_json_open(j, NULL, '{');
    vt_html_text(h, "name", o->name);
    vt_html_text(h, "place", place);
    vt_json_string(j, "root", vt_root_names[o->root.kind]);
    vt_html_text_list(h, "path", o->path, o->path_count);
    vt_html_text(h, "graph", o->graph);
    vt_json_string(j, "role", vt_purpose_names[o->purpose]);
    vt_json_number(j, "bytes", o->bytes);
    vt_json_number(j, "count", o->count);
    vt_json_open(j, "sites", '['); /* [site, bytes, count] */
    for (uint32_t i = 0; i < o->site_count && i < SITES_OF_OWNER; i++) {
        if (h->page_site[o->sites[i].site] == VT_NO_SITE)
            continue;
        vt_json_open(j, NULL, '[');
        vt_html_site(h, NULL, o->sites[i].site);
        vt_json_number(j, NULL, o->sites[i].bytes);
        vt_json_number(j, NULL, o->sites[i].count);
        vt_json_close(j, ']');
    }
    vt_json_close(j, ']');
    vt_json_close(j, '}');
}

/* What the memory was for: of each device, since a picture shows one. */
static void write_roles(struct vt_html *h, const struct vt_snapshot *s) {
    const struct vt_process *p = h->process;
    struct vt_json *j = h->json;
    for (uint32_t d = 0; vt_json_items(j, "roles", d, p->device_count); d++) {
        uint64_t sums[VT_PURPOSES] = {0}, ordinal = p->devices[d].ordinal, all = 0;
        for (uint32_t i = 0; i < s->owner_count; i++)
            sums[s->owners[i].purpose] +=
                vt_owner_bytes_on(p, &s->owners[i], ordinal, &(uint64_t){0});
        for (unsigned i = 0; i < VT_PURPOSES; i++)
            all += sums[i];
        if (!all)
            continue;
        vt_json_open(j, NULL, '{');
        vt_html_device(j, "device", p->devices[d].ordinal);
        for (unsigned i = 0; i < VT_PURPOSES; i++)
            vt_json_number(j, vt_purpose_names[i], sums[i]);
        vt_json_close(j, '}');
    }
}

/* Of the room for owners: what was taken in passing has less of it. */
static uint32_t weight_of_snapshot(const struct vt_snapshot *s) {
    return s->passing ? 1 : 8;
}

void vt_html_snapshots(struct vt_html *h) {
    const struct vt_process *p = h->process;
    struct vt_json *j = h->json;
    uint32_t weights = 0;
    for (uint32_t i = 0; i < p->snapshot_count; i++)
        weights += weight_of_snapshot(&p->snapshots[i]);
    for (uint32_t i = 0; vt_json_objects(j, "snapshots", i, p->snapshot_count); i++) {
        const struct vt_snapshot *s = &p->snapshots[i];
        uint64_t left = 0;
        uint32_t most =
            h->bounds.owners ? h->bounds.owners * weight_of_snapshot(s) / weights + 1 : 0;
        VT_SCOPED char *moment = vt_snapshot_moment(s);
        vt_json_number(j, "at", s->at);
        vt_json_string(j, "why", vt_snapshot_why_names[s->why]);
        vt_html_text(h, "phase", s->phase);
        vt_json_string(j, "moment", moment);
        vt_json_boolean(j, "complete", s->complete);
        for (uint32_t k = 0; vt_json_items(j, "owners", k, s->owner_count); k++)
            if (k < most)
                write_owner(h, &s->owners[k]);
            else
                left += s->owners[k].bytes;
        vt_json_number(j, "bytes_left_out", left);
        vt_json_number(j, "unowned", s->unowned_bytes);
        vt_json_number(j, "runtime", s->runtime_bytes);
        write_roles(h, s);
    }
    const struct vt_snapshot *shown = vt_process_snapshot_shown(p);
    vt_json_number(j, "snapshot_shown", shown ? (uint64_t)(shown - p->snapshots) : VT_UNKNOWN);
}
