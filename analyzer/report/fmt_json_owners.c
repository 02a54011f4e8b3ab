/* SPDX-License-Identifier: MIT */
/*
 * Owners of memory in the JSON report.
 */
#include "fmt_json.h"

static void texts(struct vt_json *j, const char *name, const char *const *list, uint32_t count) {
    for (uint32_t i = 0; vt_json_items(j, name, i, count); i++)
        vt_json_string(j, NULL, list[i]);
}

static void owned_sites(struct vt_json *j, const char *name, const struct vt_process *p,
                        const struct vt_owned_site *sites, uint32_t count) {
    for (uint32_t i = 0; vt_json_items(j, name, i, count); i++)
        vt_json_string(j, NULL, p->sites[sites[i].site].name);
}

static void way(struct vt_json *j, const struct vt_memory_owner *o) {
    vt_json_open(j, "root", '{');
    vt_json_string(j, "kind", vt_root_names[o->root.kind]);
    vt_json_string(j, "module", o->root.module);
    vt_json_string(j, "function", o->root.function);
    vt_json_string(j, "file", o->root.file);
    vt_json_number(j, "line", o->root.line ? o->root.line : VT_UNKNOWN);
    vt_json_string(j, "what", o->root.what);
    vt_json_close(j, '}');
    texts(j, "path", o->path, o->path_count);
    texts(j, "types", o->types, o->path_count);
}

static void owner(struct vt_json *j, const struct vt_process *p, const struct vt_memory_owner *o) {
    vt_json_string(j, "owner", o->key);
    vt_json_string(j, "name", o->name);
    way(j, o);
    /* a word of C or C++ may be one that was given up */
    bool pointer = o->root.kind == VT_ROOT_GLOBAL || o->root.kind == VT_ROOT_THREAD_LOCAL ||
                   o->root.kind == VT_ROOT_NATIVE_STACK;
    vt_json_string(j, "by", pointer ? "pointer" : "reference");
    vt_json_string(j, "graph", o->graph);
    vt_json_number(j, "graphs", o->graphs ? o->graphs : VT_UNKNOWN);
    vt_json_number(j, "graph_chain", o->graph_chain ? o->graph_chain : VT_UNKNOWN);
    vt_json_boolean(j, "may_be_unused", o->may_be_unused);
    vt_json_string(j, "role", vt_purpose_names[o->purpose]);
    vt_json_number(j, "bytes", o->bytes);
    vt_json_number(j, "count", o->count);
    vt_json_number(j, "host_bytes", o->host_bytes); /* pinned host and managed memory */
    vt_json_number(j, "host_count", o->host_count);
    owned_sites(j, "sites", p, o->sites, o->site_count);
    owned_sites(j, "holds_too", p, o->others, o->other_count); /* others own these blocks */
}

void vt_fmt_json_purposes(struct vt_json *j, const struct vt_process *p,
                          const struct vt_device *d) {
    uint64_t sums[VT_PURPOSES];
    const struct vt_snapshot *s = vt_device_purposes(p, d, sums);
    if (!vt_json_object(j, "used_for", s))
        return;
    vt_json_number(j, "at_ns", s->at);
    for (unsigned i = 0; i < VT_PURPOSES; i++)
        vt_json_number(j, vt_purpose_names[i], sums[i]);
    vt_json_close(j, '}');
}

void vt_fmt_json_snapshots(struct vt_json *j, const struct vt_process *p) {
    bool is_last = !p->quality.complete && !vt_process_snapshot(p);
    const struct vt_snapshot *shown = is_last ? vt_process_snapshot_shown(p) : NULL;
    for (uint32_t i = 0; vt_json_items(j, "snapshots", i, p->snapshot_count); i++) {
        const struct vt_snapshot *s = &p->snapshots[i];
        if (s->passing && s != shown)
            continue;
        vt_json_open(j, NULL, '{');
        vt_json_number(j, "at_ns", s->at);
        vt_json_string(j, "why", vt_snapshot_why_names[s->why]);
        vt_json_string(j, "phase", s->phase);
        vt_json_boolean(j, "complete", s->complete);
        vt_json_number(j, "duration_ns", s->duration);
        for (uint32_t k = 0; vt_json_objects(j, "owners", k, s->owner_count); k++)
            owner(j, p, &s->owners[k]);
        vt_json_number(j, "unowned_bytes", s->unowned_bytes);
        vt_json_number(j, "unowned_count", s->unowned_count);
        vt_json_close(j, '}');
    }
    for (uint32_t i = 0; vt_json_objects(j, "snapshots_missed", i, p->missed_count); i++) {
        const struct vt_missed_snapshots *m = &p->missed[i];
        vt_json_string(j, "why", vt_snapshot_why_names[m->why]);
        vt_json_string(j, "reason", vt_missed_names[m->reason]);
        vt_json_number(j, "count", m->count);
        vt_json_number(j, "needed_bytes", m->needed_bytes);
        vt_json_number(j, "room_bytes", m->room_bytes);
    }
}

void vt_fmt_json_owned(struct vt_json *j, const struct vt_owned_list *owned) {
    for (uint32_t i = 0; vt_json_objects(j, "owners", i, owned->count); i++) {
        const struct vt_owned_by *by = &owned->owners[i];
        vt_json_string(j, "owner", by->owner->key);
        vt_json_number(j, "bytes", by->bytes);
        vt_json_number(j, "count", by->count);
        vt_json_string(j, "name", by->owner->name);
        vt_json_boolean(j, "may_be_unused", by->owner->may_be_unused);
        vt_json_number(j, "seen_at_ns", by->seen ? by->seen->at : VT_UNKNOWN);
        if (by->seen) /* perhaps in no snapshot that is listed */
            way(j, by->owner);
    }
}
