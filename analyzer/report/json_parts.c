/* SPDX-License-Identifier: MIT */
/*
 * Keys that several JSON outputs have in common (see json_parts.h).
 */
#include "json_parts.h"

void vt_json_part_rank(struct vt_json *j, const char *name, int rank) {
    vt_json_number(j, name, vt_rank_number(rank));
}

void vt_json_part_ordinal(struct vt_json *j, const char *name, unsigned device) {
    vt_json_number(j, name, vt_device_number(device));
}

void vt_json_part_ending(struct vt_json *j, struct vt_ending ending) {
    vt_json_open(j, "exit", '{');
    vt_json_string(j, "kind", vt_end_names[ending.how]);
    vt_json_key(j, "status");
    if (ending.status == VT_NO_STATUS)
        fputs("null", j->out);
    else
        fprintf(j->out, "%d", ending.status);
    vt_json_close(j, '}');
}

void vt_json_part_inconclusive(struct vt_json *j, struct vt_inconclusive_sum sum) {
    vt_json_open(j, "unjudged", '{');
    vt_json_number(j, "sites", sum.sites);
    vt_json_number(j, "bytes", sum.bytes);
    vt_json_close(j, '}');
}

void vt_json_part_apart(struct vt_json *j, const char *name, const struct vt_apart *a) {
    vt_json_open(j, name, '{');
    vt_json_number(j, "live_bytes", a->live_bytes);
    vt_json_number(j, "live_count", a->live_count);
    vt_json_number(j, "peak_bytes", a->peak_bytes);
    vt_json_close(j, '}');
}

void vt_json_part_device(struct vt_json *j, const struct vt_device *d) {
    vt_json_part_ordinal(j, "device", d->ordinal);
    vt_json_string(j, "uuid", d->uuid);
    vt_json_string(j, "name", d->name);
    vt_json_number(j, "total_bytes", d->total_bytes);
    vt_json_number(j, "live_bytes", d->live_bytes);
    vt_json_number(j, "live_count", d->live_count);
    vt_json_number(j, "peak_bytes", d->peak_bytes);
    vt_json_number(j, "peak_at_ns", d->peak_at);
    vt_json_number(j, "alloc_count", d->alloc_count);
    vt_json_number(j, "free_count", d->free_count);
    vt_json_number(j, "failed_count", d->failed_count);
}

void vt_json_part_oom(struct vt_json *j, const struct vt_oom *o) {
    vt_json_number(j, "at_ns", o->at);
    vt_json_part_ordinal(j, "device", o->device);
    vt_json_string(j, "outcome", vt_oom_outcome_names[o->outcome]);
    vt_json_number(j, "requested_bytes", o->requested_bytes);
    vt_json_number(j, "free_bytes", o->free_bytes);
    vt_json_string(j, "cause", vt_oom_cause_names[o->cause]);
    vt_json_string(j, "why", o->why);
}

void vt_json_part_phase(struct vt_json *j, const struct vt_phase *phase) {
    vt_json_string(j, "name", phase->name);
    vt_json_number(j, "start_ns", phase->start);
    vt_json_number(j, "thread", phase->thread);
    vt_json_number(j, "live_at_start", phase->live_at_start);
}

void vt_json_part_fingerprint(struct vt_json *j, uint64_t key) {
    char text[17];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)key);
    vt_json_string(j, "fingerprint", text);
}

void vt_json_part_bound(struct vt_json *j, const struct vt_bound *b) {
    if (!vt_json_object(j, "bound", b))
        return;
    vt_json_number(j, "entries", b->entries);
    vt_json_number(j, "capacity", b->capacity);
    vt_json_number(j, "full_bytes", b->full_bytes);
    vt_json_close(j, '}');
}
