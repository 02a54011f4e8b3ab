/* SPDX-License-Identifier: MIT */
/*
 * A process as the HTML page's data: the part of the JSON report that the page has, and in "page" what only pictures
 * need. The other files of this folder write the rest.
 */
#include "html.h"

#include <stdlib.h>

enum { TITLE_COLUMNS = 200 };

static void write_head(struct vt_html *h) {
    const struct vt_process *p = h->process;
    struct vt_json *j = h->json;
    VT_SCOPED char *command = vt_command_text(p), *title = vt_text_cut(command, TITLE_COLUMNS);
    VT_SCOPED char *ended = vt_ended_text(p);
    vt_json_string(j, "title", title);
    vt_json_string(j, "ended", ended);
    vt_json_number(j, "process", h->in_job == VT_JOB_NONE ? VT_UNKNOWN : h->in_job);
    vt_json_boolean(j, "brief", !h->bounds.sites);
    /* of all leaks; html_words.c has the sentences about each */
    vt_json_number(j, "leak_count", p->leak_count);
    vt_json_number(j, "leaked_bytes", vt_amount_leaked(p));
    const struct vt_snapshot *shown = vt_process_snapshot_shown(p);
    vt_json_number(j, "snapshot_shown", shown ? (uint64_t)(shown - p->snapshots) : VT_UNKNOWN);
}

/* clang-format off */
#define OF struct vt_alarm
static const struct vt_key alarm_keys[] = {
    VT_NUMBER_KEY("at_ns", at, NULL, NULL),
    VT_DEVICE_KEY("device", device, NULL),
    VT_NUMBER_KEY("live_bytes", live_bytes, NULL, NULL),
    VT_NUMBER_KEY("mark_bytes", mark_bytes, NULL, NULL),
    VT_KEYS_END,
};
#undef OF
/* clang-format on */

/* --- phases --- */

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
static const struct vt_phase **choose_phases(const struct vt_html *h, uint32_t *shown) {
    const struct vt_process *p = h->process;
    const struct vt_phase **list = vt_alloc(p->phase_count, sizeof *list);
    uint32_t count = 0, marks = 0, most = h->bounds.phases;
    for (uint32_t i = 0; i < p->phase_count; i++)
        if (!p->phases[i].mark || marks++ < most / 4)
            list[count++] = &p->phases[i];
    *shown = count < most ? count : most;
    if (count > most)
        vt_sort(list, count, sizeof *list, longer_first);
    vt_sort(list, *shown, sizeof *list, earlier_first);
    return list;
}

static uint64_t phases_left_out(const struct vt_process *p, uint32_t shown) {
    uint64_t left_out = p->phase_count - shown;
    for (uint32_t i = 0; i < p->phase_sum_count; i++)
        left_out += p->phase_sums[i].count;
    return left_out;
}

/* --- the process --- */

/* The room for owners is shared out among snapshots; those taken as memory grew get less of it. */
static void bound_owners(const struct vt_html *h, uint32_t owners[2]) {
    enum { WEIGHT = 8 };
    uint32_t weights = 0, room = h->bounds.owners;
    for (uint32_t i = 0; i < h->process->snapshot_count; i++)
        weights += h->process->snapshots[i].passing ? 1 : WEIGHT;
    owners[0] = room && weights ? room * WEIGHT / weights + 1 : 0;
    owners[1] = room && weights ? room / weights + 1 : 0;
}

static void write_page(struct vt_html *h) {
    const struct vt_timeline *t = h->process->timeline;
    vt_json_open(h->json, "page", '{');
    write_head(h);
    vt_html_words(h);
    vt_keys_list(&h->keys, "alarms", alarm_keys, t ? t->alarms : NULL, t ? t->alarm_count : 0,
                 sizeof *t->alarms);
    vt_json_number(h->json, "phases_left_out",
                   phases_left_out(h->process, h->keys.excerpt->phase_count));
    vt_html_sites(h);
    vt_html_frame_names(h);
    vt_html_courses(h);
    vt_html_maps(h);
    vt_json_close(h->json, '}');
}

void vt_html_process(struct vt_html *h) {
    struct vt_excerpt excerpt = {.items = h->bounds.items};
    VT_SCOPED const struct vt_phase **phases = choose_phases(h, &excerpt.phase_count);
    VT_SCOPED uint32_t *sites = vt_html_sites_choose(h);
    excerpt.phases = phases;
    excerpt.sites = sites;
    bound_owners(h, excerpt.owners);
    h->keys = (struct vt_key_writer){
        .json = h->json,
        .process = h->process,
        .options = h->options,
        .excerpt = &excerpt,
        .stacks = {.native = h->options->native, .most_frames = h->bounds.frames}};
    vt_json_open(h->json, NULL, '{');
    vt_keys_write(&h->keys, vt_process_keys, h->process);
    write_page(h);
    vt_json_close(h->json, '}');
    vt_keys_free(&h->keys);
}
