/* SPDX-License-Identifier: MIT */
/*
 * "ranks" of the JSON format: all processes side by side (model/job_data.h).
 */
#include "json_parts.h"
#include "content/content.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>

/* Processes are named by their index in "rows", in all arrays. VT_JOB_NONE: null. */
static void index_of(struct vt_json *j, const char *name, uint32_t index) {
    vt_json_number(j, name, index == VT_JOB_NONE ? VT_UNKNOWN : index);
}

static void indices(struct vt_json *j, const char *name, const uint32_t *list, uint32_t count) {
    for (uint32_t i = 0; vt_json_items(j, name, i, count); i++)
        index_of(j, NULL, list[i]);
}

static void hosts(struct vt_json *j, const struct vt_job *f) {
    for (uint32_t i = 0; vt_json_objects(j, "hosts", i, f->host_count); i++) {
        vt_json_string(j, "host", f->hosts[i].name);
        vt_json_string(j, "boot", f->hosts[i].boot);
        vt_json_number(j, "clock_offset_ns", f->hosts[i].clock_offset);
        vt_json_number(j, "clock_step_ns", f->hosts[i].clock_step);
    }
}

static void devices(struct vt_json *j, const struct vt_job *f, const struct vt_job_process *p) {
    for (uint32_t i = 0; vt_json_objects(j, "devices", i, p->device_count); i++) {
        const struct vt_job_device *d = &f->devices[p->first_device + i];
        vt_json_part_ordinal(j, "device", d->ordinal);
        vt_json_boolean(j, "host_memory", d->ordinal == VT_DEVICE_HOST);
        vt_json_string(j, "uuid", d->uuid);
        vt_json_number(j, "peak_bytes", d->peak_bytes);
        vt_json_number(j, "live_bytes", d->live_bytes);
    }
}

static void rows(struct vt_json *j, const struct vt_job *f, const struct vt_ranks *r) {
    for (uint32_t i = 0; vt_json_objects(j, "rows", i, f->process_count); i++) {
        const struct vt_job_process *p = &f->processes[i];
        vt_json_part_rank(j, "rank", p->rank);
        vt_json_number(j, "restart", p->restart);
        vt_json_number(j, "pid", p->pid);
        index_of(j, "host", p->host);
        vt_json_string(j, "log", p->log);
        vt_json_string(j, "run_id", p->run_id);
        vt_json_string(j, "job", p->job);
        vt_json_string(j, "command", p->command);
        vt_json_time(j, "started_at", p->started_at);
        vt_json_number(j, "duration_ns", p->duration);
        vt_json_part_ending(j, p->ending);
        vt_json_boolean(j, "complete", p->quality.complete);
        vt_json_number(j, "peak_bytes", p->peak_bytes);
        vt_json_number(j, "live_bytes", p->live_bytes);
        vt_json_number(j, "leaked_bytes", p->leaked_bytes);
        vt_json_number(j, "leaks", p->leak_count);
        vt_json_number(j, "ooms", p->oom_count);
        vt_json_boolean(j, "differs", r->differs[i]);
        devices(j, f, p);
    }
}

static void peers(struct vt_json *j, const struct vt_job *f) {
    for (uint32_t i = 0; vt_json_objects(j, "peers", i, f->peers_count); i++) {
        const struct vt_job_peers *peers = &f->peers[i];
        vt_json_string(j, "kind",
                       peers->empty      ? "helpers"
                       : peers->replaced ? "replaced"
                       : peers->lacking  ? "lacking"
                                         : "peers");
        index_of(j, "typical", peers->typical);
        indices(j, "processes", peers->processes, peers->process_count);
    }
}

static void line(struct vt_json *j, const struct vt_job *f, uint32_t index) {
    const struct vt_job_line *l = index == VT_JOB_NONE ? NULL : &f->lines[index];
    vt_json_string(j, "at", l ? l->text : NULL);
    vt_json_string(j, "function", l ? l->function : NULL);
    vt_json_string(j, "file", l ? l->file : NULL);
    vt_json_number(j, "line", l && l->line ? l->line : VT_UNKNOWN);
    vt_json_string(j, "layer", l ? vt_layer_names[l->layer] : NULL);
}

static void differences(struct vt_json *j, const struct vt_job *f, const struct vt_job_outlier *o) {
    static const char *const measures[] = {"peak", "line", "owner"};
    for (uint32_t i = 0; vt_json_objects(j, "differences", i, o->difference_count); i++) {
        const struct vt_job_difference *d = &o->differences[i];
        vt_json_string(j, "measure", measures[d->measure]);
        if (d->measure == VT_JOB_LINE) {
            line(j, f, d->what);
            vt_json_string(j, "caller", vt_ranks_caller(f, o, d));
        }
        if (d->measure == VT_JOB_OWNER)
            vt_json_string(j, "owner", f->owners[d->what].text);
        vt_json_number(j, "bytes", d->bytes);
        vt_json_number(j, "others_bytes", d->median);
        vt_json_number(j, "others_least_bytes", d->low);
        vt_json_number(j, "others_most_bytes", d->high);
    }
}

static void write_outliers(struct vt_json *j, const struct vt_job *f) {
    for (uint32_t i = 0; vt_json_objects(j, "outliers", i, f->outlier_count); i++) {
        const struct vt_job_outlier *o = &f->outliers[i];
        struct vt_doc doc = {0};
        vt_ranks_outlier(f, o, 1, &doc);
        vt_json_string(j, "why", doc.items[0].text);
        vt_json_string(j, "holds", o->more ? "more" : "less");
        vt_json_number(j, "peers", o->peers);
        indices(j, "processes", o->processes, o->process_count);
        for (uint32_t k = 0; vt_json_items(j, "ranks", k, o->process_count); k++)
            vt_json_part_rank(j, NULL, f->processes[o->processes[k]].rank);
        differences(j, f, o);
        vt_doc_free(&doc);
    }
}

static void sum(struct vt_json *j, const struct vt_ranks_sum *s) {
    vt_json_number(j, "bytes", s->bytes);
    vt_json_number(j, "processes", s->processes);
    vt_json_number(j, "most_bytes", s->most_bytes);
    index_of(j, "most", s->most);
}

static void sums(struct vt_json *j, const struct vt_job *f) {
    uint32_t leaks, ooms, owners;
    VT_SCOPED struct vt_ranks_sum *of_leaks = vt_ranks_leaks(f, &leaks);
    VT_SCOPED struct vt_ranks_sum *of_ooms = vt_ranks_ooms(f, &ooms);
    VT_SCOPED struct vt_ranks_sum *of_owners = vt_ranks_owners(f, &owners);
    for (uint32_t i = 0; vt_json_objects(j, "leaks", i, leaks); i++) {
        vt_json_string(j, "verdict", vt_verdict_names[of_leaks[i].verdict]);
        line(j, f, of_leaks[i].what);
        vt_json_string(j, "caller", of_leaks[i].caller);
        vt_json_string(j, "kept_by", of_leaks[i].kept_by);
        sum(j, &of_leaks[i]);
    }
    for (uint32_t i = 0; vt_json_objects(j, "ooms", i, ooms); i++) {
        line(j, f, of_ooms[i].what);
        vt_json_string(j, "caller", of_ooms[i].caller);
        vt_json_number(j, "processes", of_ooms[i].processes);
        vt_json_number(j, "most_requested_bytes", of_ooms[i].most_bytes);
        index_of(j, "most", of_ooms[i].most);
    }
    for (uint32_t i = 0; vt_json_objects(j, "owners", i, owners); i++) {
        vt_json_string(j, "owner", f->owners[of_owners[i].what].text);
        sum(j, &of_owners[i]);
    }
}

void vt_json_part_ranks(struct vt_json *j, const struct vt_job *f) {
    struct vt_ranks r;
    if (!vt_json_object(j, "ranks", f))
        return;
    vt_ranks_make(&r, f);
    vt_json_number(j, "processes", r.processes);
    vt_json_number(j, "helpers", r.empty);
    vt_json_number(j, "ranks", r.ranks);
    vt_json_number(j, "gpus", r.gpus ? r.gpus : VT_UNKNOWN);
    vt_json_time(j, "started_at", f->process_count ? r.from : 0);
    vt_json_number(j, "duration_ns", f->process_count ? r.to - r.from : 0);
    vt_json_number(j, "peak_bytes", r.peak_bytes);
    vt_json_number(j, "at_once_bytes", r.at_once_bytes); /* of GPU memory */
    vt_json_number(j, "live_bytes", r.live_bytes);
    vt_json_number(j, "leaked_bytes", r.leaked_bytes);
    vt_json_number(j, "dropped_events", r.dropped_events);
    vt_json_number(j, "unread_logs", f->unread_count);
    vt_json_string(j, "unread_why", f->unread_count ? f->unread[0] : NULL);
    VT_SCOPED char *restarts = vt_ranks_restarts(f);
    vt_json_string(j, "restarts", restarts);
    hosts(j, f);
    rows(j, f, &r);
    peers(j, f);
    write_outliers(j, f);
    sums(j, f);
    vt_json_close(j, '}');
    vt_ranks_free(&r);
}
