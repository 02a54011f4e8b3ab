/* SPDX-License-Identifier: MIT */
/*
 * Makes a frame, the data that the live view shows, from a model (see frame.h). For sample.c.
 */
#include "frame.h"

#include "report/report.h"

#include <stdlib.h>

const char *const vt_watch_state_names[] = {"waiting", "unreadable", "running", "ended"};

/* --- a device --- */

static void fill_device(struct vt_watch_device *to, struct vt_device *d) {
    const struct vt_fragmentation *f = &d->fragmentation;
    uint64_t idle = f->ratio >= 0 && f->free_bytes != VT_UNKNOWN ? f->free_bytes : 0;
    to->device = d;
    to->rate = NAN;
    to->cached = idle < d->live_bytes ? idle : d->live_bytes;
    to->in_use = d->live_bytes - to->cached;
    if (d->untracked.samples) /* the last sample is newer than the figure at the peak */
        d->untracked_bytes = d->untracked.last_bytes;
    to->free = VT_UNKNOWN;
    if (d->total_bytes == VT_UNKNOWN)
        return;
    uint64_t taken =
        d->live_bytes + vt_known(d->untracked_bytes) + vt_known(d->other_processes_bytes);
    to->free = taken < d->total_bytes ? d->total_bytes - taken : 0;
}

/* --- lines --- */

bool vt_frame_shows_leak(const struct vt_process *p, const struct vt_leak *leak) {
    return leak->growth || p->ending.how != VT_END_RUNNING;
}

static void fill_lines(struct vt_watch_process *w) {
    const struct vt_process *p = w->process;
    struct vt_format_options options = {.by = VT_BY_LINE};
    struct vt_subject t = {.process = p, .options = &options};
    struct vt_rows rows;
    uint64_t whole = 0;
    VT_SCOPED const struct vt_leak **leaks = vt_process_leaks_by_site(p, false);
    for (uint32_t i = 0; i < p->device_count; i++)
        whole += p->devices[i].live_bytes;
    vt_rows_make(&rows, &t, VT_ROWS_HELD, 0);
    w->lines = vt_alloc(rows.count, sizeof *w->lines);
    for (uint32_t i = 0; i < rows.count; i++) {
        const struct vt_row *row = &rows.rows[i];
        struct vt_watch_line *line = &w->lines[w->line_count++];
        *line = (struct vt_watch_line){.key = row->key,
                                       .site = row->site,
                                       .sites = row->sites,
                                       .bytes = row->bytes,
                                       .blocks = row->blocks,
                                       .figures = row->figures,
                                       .share = whole ? (double)row->bytes / (double)whole : 0,
                                       .rate = NAN};
        for (uint32_t j = 0; j < VT_ROW_SITES && j < row->sites && !line->leak; j++) {
            const struct vt_leak *leak = leaks[row->largest[j] - p->sites];
            line->leak = leak && vt_frame_shows_leak(p, leak) ? leak : NULL;
        }
    }
    vt_rows_free(&rows);
}

/* --- owners --- */

static void fill_owners(struct vt_watch_process *w) {
    const struct vt_process *p = w->process;
    const struct vt_snapshot *s = vt_process_snapshot_shown(p);
    if (w->state == VT_WATCH_RUNNING && p->snapshot_count)
        s = &p->snapshots[p->snapshot_count - 1]; /* the requested snapshot is the newest */
    if (!s)
        return;
    VT_SCOPED struct vt_owned_by *owned = vt_alloc(s->owner_count, sizeof *owned);
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->owner_count; i++) {
        owned[count].owner = &s->owners[i];
        owned[count].bytes = vt_owner_bytes_on(p, &s->owners[i], VT_UNKNOWN, &owned[count].count);
        count += owned[count].count > 0;
    }
    w->snapshot = s;
    w->owners = vt_owner_groups(owned, count, true, &w->owner_count);
}

/* --- a process --- */

static struct vt_watch_process *new_process(void) {
    static uint64_t serial;
    struct vt_watch_process *w = vt_alloc(1, sizeof *w);
    w->refs = 1;
    w->serial = ++serial;
    return w;
}

struct vt_watch_process *vt_frame_process(const struct vt_model *model) {
    struct vt_watch_process *w = new_process();
    w->model = *model;
    w->process = w->model.processes;
    w->state = w->process->ending.how != VT_END_RUNNING ? VT_WATCH_ENDED : VT_WATCH_RUNNING;
    w->pid = w->process->pid;
    w->now = w->process->duration;
    w->devices = vt_alloc(w->process->device_count, sizeof *w->devices);
    for (uint32_t i = 0; i < w->process->device_count; i++)
        fill_device(&w->devices[i], &w->model.processes->devices[i]);
    fill_lines(w);
    fill_owners(w);
    w->figures = vt_process_figures(w->process);
    w->figures.leak_count = 0;
    for (uint32_t i = 0; i < w->process->leak_count; i++)
        w->figures.leak_count += vt_frame_shows_leak(w->process, &w->process->leaks[i]);
    return w;
}

struct vt_watch_process *vt_frame_nothing(enum vt_watch_state state, const char *message) {
    struct vt_watch_process *w = new_process();
    w->state = state;
    w->message = message ? vt_strdup(message) : NULL;
    return w;
}

bool vt_frame_shows(const struct vt_watch_process *w, uint32_t device) {
    bool used = false;
    for (uint32_t i = 0; i < w->process->device_count; i++)
        used |= vt_report_device_used(&w->process->devices[i]);
    return !used || vt_report_device_used(&w->process->devices[device]);
}

struct vt_watch_process *vt_frame_share(struct vt_watch_process *w) {
    __atomic_add_fetch(&w->refs, 1, __ATOMIC_RELAXED);
    return w;
}

void vt_frame_release(struct vt_watch_process *w, const struct vt_model_builder *builder) {
    if (!w || __atomic_sub_fetch(&w->refs, 1, __ATOMIC_ACQ_REL))
        return;
    for (uint32_t i = 0; w->process && i < w->process->device_count; i++)
        free(w->devices[i].course);
    if (w->process)
        builder->free(&w->model);
    free(w->devices);
    free(w->lines);
    free(w->owners);
    free(w->source);
    free(w->log);
    free(w->message);
    free(w);
}

void vt_frame_free(struct vt_watch_frame *frame, const struct vt_model_builder *builder) {
    if (!frame)
        return;
    for (uint32_t i = 0; i < frame->count; i++)
        vt_frame_release(frame->processes[i], builder);
    free(frame->processes);
    free(frame);
}
