/* SPDX-License-Identifier: MIT */
/*
 * A process as the HTML page's data: who it was, its devices, leaks, failed allocations and phases. The
 * other files of this folder write the rest.
 */
#include "html.h"

#include <stdlib.h>

enum { TITLE_COLUMNS = 200, OOMS = 200, ALARMS = 200 };

static void write_head(struct vt_html *h) {
    const struct vt_process *p = h->process;
    struct vt_json *j = h->json;
    VT_SCOPED_STRING command = {0};
    VT_SCOPED char *ended = vt_ended_text(p);
    vt_text_command(p, TITLE_COLUMNS, &command);
    vt_html_text(h, "title", command.text);
    vt_html_text(h, "host", p->host);
    vt_json_number(j, "process", h->in_job == VT_JOB_NONE ? VT_UNKNOWN : h->in_job);
    vt_json_number(j, "pid", p->pid);
    vt_json_part_rank(j, "rank", p->rank);
    vt_html_text(h, "job", p->job);
    vt_json_number(j, "started_at", p->started_at ? p->started_at / 1000000 : VT_UNKNOWN); /* ms */
    vt_json_number(j, "duration", p->duration);
    vt_json_string(j, "exit", ended);
    vt_json_boolean(j, "complete", p->quality.complete);
    vt_json_boolean(j, "simulated", p->simulated);
    vt_json_number(j, "events", p->events);
    vt_json_number(j, "dropped", p->quality.missing);
    vt_json_number(j, "since", p->window_since);
    vt_json_number(j, "until", p->window_until);
    vt_html_text_list(h, "notes", (const char *const *)p->notes, p->note_count);
    vt_json_boolean(j, "brief", !h->bounds.sites);
}

static void write_devices(struct vt_html *h) {
    const struct vt_process *p = h->process;
    struct vt_json *j = h->json;
    for (uint32_t i = 0; vt_json_objects(j, "devices", i, p->device_count); i++) {
        const struct vt_device *d = &p->devices[i];
        vt_html_device(j, "device", d->ordinal);
        vt_html_text(h, "name", d->name);
        vt_json_number(j, "total", d->total_bytes);
        vt_json_number(j, "live", d->live_bytes);
        vt_json_number(j, "peak", d->peak_bytes);
        vt_json_number(j, "peak_at", d->peak_at_ns);
        vt_json_number(j, "allocs", d->alloc_count);
        vt_json_number(j, "untracked", d->untracked_bytes);
    }
}

static void write_apart(struct vt_json *j, const char *name, const struct vt_apart *a) {
    vt_json_open(j, name, '{');
    vt_json_number(j, "live", a->live_bytes);
    vt_json_number(j, "peak", a->peak_bytes);
    vt_json_close(j, '}');
}

/* All leaks together; html_words.c has what there is to say of each. */
static void write_leaks(struct vt_html *h) {
    const struct vt_process *p = h->process;
    vt_json_number(h->json, "leak_count", p->leak_count);
    vt_json_number(h->json, "leaked", vt_amount_leaked(p, 0));
}

static void write_ooms(struct vt_html *h) {
    const struct vt_process *p = h->process;
    struct vt_json *j = h->json;
    uint32_t first = p->oom_count > OOMS ? p->oom_count - OOMS : 0;
    vt_json_open(j, "ooms", '[');
    for (uint32_t i = first; i < p->oom_count; i++) {
        const struct vt_oom *o = &p->ooms[i];
        vt_json_open(j, NULL, '{');
        vt_json_number(j, "at", o->at);
        vt_html_device(j, "device", o->device);
        vt_json_string(j, "outcome", vt_oom_outcome_names[o->outcome]);
        vt_json_number(j, "requested", o->requested_bytes);
        vt_json_number(j, "free", o->free_bytes);
        vt_json_string(j, "cause", vt_oom_cause_names[o->cause]);
        vt_html_text(h, "why", o->why);
        vt_json_close(j, '}');
    }
    vt_json_close(j, ']');
    vt_json_number(j, "ooms_left_out", p->ooms_left_out + first);
}

static void write_alarms(struct vt_html *h) {
    const struct vt_timeline *t = h->process->timeline;
    struct vt_json *j = h->json;
    vt_json_open(j, "alarms", '[');
    for (uint32_t i = 0; t && i < t->alarm_count && i < ALARMS; i++) {
        vt_json_open(j, NULL, '{');
        vt_json_number(j, "at", t->alarms[i].at);
        vt_html_device(j, "device", t->alarms[i].device);
        vt_json_number(j, "live", t->alarms[i].live_bytes);
        vt_json_number(j, "mark", t->alarms[i].mark_bytes);
        vt_json_close(j, '}');
    }
    vt_json_close(j, ']');
}

static int longer_first(const void *a, const void *b) {
    const struct vt_phase *x = *(const struct vt_phase *const *)a,
                          *y = *(const struct vt_phase *const *)b;
    return VT_ORDER({y->end - y->start, x->end - x->start}, {x->start, y->start});
}

static int earlier_first(const void *a, const void *b) {
    const struct vt_phase *x = *(const struct vt_phase *const *)a,
                          *y = *(const struct vt_phase *const *)b;
    return VT_ORDER({x->start, y->start}, {y->end, x->end}, {(uintptr_t)x, (uintptr_t)y});
}

/* The longest, in order of time. Marks have no length, so a part of the room is theirs. */
static void write_phases(struct vt_html *h) {
    const struct vt_process *p = h->process;
    struct vt_json *j = h->json;
    VT_SCOPED const struct vt_phase **list = vt_alloc(p->phase_count, sizeof *list);
    uint32_t count = 0, marks = 0, most = h->bounds.phases;
    for (uint32_t i = 0; i < p->phase_count; i++)
        if (!p->phases[i].mark || marks++ < most / 4)
            list[count++] = &p->phases[i];
    uint32_t shown = count < most ? count : most;
    if (count > most)
        vt_sort(list, count, sizeof *list, longer_first);
    vt_sort(list, shown, sizeof *list, earlier_first);
    for (uint32_t i = 0; vt_json_objects(j, "phases", i, shown); i++) {
        vt_html_text(h, "name", list[i]->name);
        vt_json_number(j, "start", list[i]->start);
        vt_json_number(j, "end", list[i]->end);
        vt_json_number(j, "thread", list[i]->thread);
        vt_json_number(j, "peak", list[i]->peak_bytes);
        if (list[i]->mark)
            vt_json_boolean(j, "mark", true);
    }
    uint64_t left_out = p->phase_count - shown;
    for (uint32_t i = 0; i < p->phase_sum_count; i++)
        left_out += p->phase_sums[i].count;
    vt_json_number(j, "phases_left_out", left_out);
}

void vt_html_process(struct vt_html *h) {
    struct vt_json *j = h->json;
    vt_html_sites_choose(h);
    vt_json_open(j, NULL, '{');
    write_head(h);
    vt_html_words(h);
    write_devices(h);
    write_apart(j, "pinned", &h->process->pinned);
    write_apart(j, "managed", &h->process->managed);
    write_leaks(h);
    write_ooms(h);
    write_alarms(h);
    write_phases(h);
    vt_html_sites(h);
    vt_html_snapshots(h);
    vt_html_courses(h);
    vt_html_maps(h);
    vt_json_close(j, '}');
    vt_html_sites_free(h);
}
