/* SPDX-License-Identifier: MIT */
/*
 * A trace for Perfetto (ui.perfetto.dev, trace_processor). Each process has counters for its devices' memory, in total
 * and by line and class; phases as slices of their threads; and marks, snapshots, leaks and out-of-memory errors as
 * instants with the report's sentences.
 */
#include "export.h"
#include "perfetto.h"

#include "vramtrace/log_format.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    NAME_WIDTH = 60,
    OWNERS_MOST = 20,
    LANES_MOST = 64,   /* of a thread */
    PID_FREE = 1 << 22 /* above the largest pid of Linux */
};

struct writer {
    struct vt_perfetto w;
    const struct vt_process *process;
    uint64_t track;      /* the process's */
    uint32_t pid;        /* its pid in the trace */
    uint32_t rank;       /* of its next track */
    struct vt_map taken; /* process and thread numbers in use */
    uint32_t next_free;
};

static uint64_t when(const struct writer *w, uint64_t at) {
    return w->process->started_at + at;
}

/* Perfetto treats equal numbers as one process or thread. Numbers from different hosts and containers may be equal.
 * Then the later process or thread gets a number that Linux never uses. */
static uint32_t unique(struct writer *w, uint32_t number) {
    uint32_t is = number;
    if (vt_map_get(&w->taken, number) != VT_MAP_NONE)
        is = PID_FREE + w->next_free++;
    vt_map_put(&w->taken, is, 1);
    return is;
}

static void instant(struct writer *w, uint64_t track, uint64_t at, const char *category,
                    const char *name, const struct vt_perfetto_note *notes, uint32_t count) {
    vt_perfetto_event(&w->w, VT_PERFETTO_INSTANT, track, when(w, at), category, name, notes, count);
}
#define INSTANT(w, track, at, category, name, ...)                                                 \
    instant(w, track, at, category, name, (const struct vt_perfetto_note[]){__VA_ARGS__},          \
            sizeof(const struct vt_perfetto_note[]){__VA_ARGS__} /                                 \
                sizeof(struct vt_perfetto_note))

/* --- counters --- */

/* `bytes` VT_UNKNOWN: unknown in that slot. */
static void put_levels(struct writer *w, const struct vt_course *c, const uint64_t *bytes,
                       uint64_t track) {
    uint64_t last = VT_UNKNOWN;
    for (uint32_t i = 0; i < c->slot_count; i++)
        if (bytes[i] != last && bytes[i] != VT_UNKNOWN) {
            vt_perfetto_count(&w->w, track, when(w, c->at[i]), bytes[i]);
            last = bytes[i];
        }
}

static const struct vt_device *device_of(const struct vt_process *p, unsigned ordinal) {
    for (uint32_t i = 0; i < p->device_count; i++)
        if (p->devices[i].ordinal == ordinal)
            return &p->devices[i];
    return NULL;
}

/* The caller frees it. */
static char *band_name(const struct writer *w, const struct vt_band *b, const struct vt_device *d) {
    const struct vt_site *site = b->site_count ? &w->process->sites[b->sites[0]] : NULL;
    switch (b->kind) {
    case VT_BAND_LEAK:
        return vt_strdup("other leaks");
    case VT_BAND_RUNTIME:
        return vt_strdup("CUDA libraries");
    case VT_BAND_IDLE:
        return vt_formatted("%s: reserved, not in use",
                            d && d->has_blocks && d->blocks.name ? d->blocks.name : "cache");
    case VT_BAND_LINE:
        if (site) {
            VT_SCOPED char *line =
                vt_frame_text(w->process, vt_stack_main_frame(site->stack), NAME_WIDTH);
            char *name = vt_formatted(b->leak ? "leak: %s" : "%s", line);
            return name;
        }
        break;
    case VT_BAND_REST:
        break;
    }
    return vt_strdup("other lines");
}

static void bands(struct writer *w, const struct vt_course *c, uint64_t group, uint32_t rank) {
    const struct vt_device *d = device_of(w->process, c->device);
    for (uint32_t i = 0; i < c->band_count; i++) {
        const struct vt_band *b = &c->bands[i];
        const struct vt_site *s = b->site_count ? &w->process->sites[b->sites[0]] : NULL;
        VT_SCOPED char *name = band_name(w, b, d), *says = NULL;
        if (b->kind == VT_BAND_LINE && s)
            says = vt_formatted("site %s, %s: %s", s->name, vt_verdict_names[s->verdict], s->why);
        put_levels(w, c, b->bytes, vt_perfetto_counter(&w->w, group, name, says, rank + i));
    }
}

/* Skips devices that a process saw but did not use. */
static bool is_empty(const struct vt_course *c) {
    uint64_t seen = 0;
    for (uint32_t i = 0; i < c->slot_count; i++) {
        seen |= c->live_bytes[i];
        seen |= c->own_bytes && c->own_bytes[i] != VT_UNKNOWN ? c->own_bytes[i] : 0;
    }
    return !seen;
}

static void course(struct writer *w, const struct vt_course *c) {
    const struct vt_device *d = device_of(w->process, c->device);
    VT_SCOPED char *name = c->device == VT_DEVICE_HOST ? vt_strdup("pinned and managed memory")
                           : d && d->name ? vt_formatted("%s %s", VT_GPU(c->device), d->name)
                                          : vt_strdup(VT_GPU(c->device));
    uint64_t group = vt_perfetto_track(&w->w, w->track, name, w->rank++);
    uint32_t rank = 0;
    put_levels(w, c, c->live_bytes, vt_perfetto_counter(&w->w, group, "live", NULL, rank++));
    if (c->own_bytes)
        put_levels(w, c, c->own_bytes,
                   vt_perfetto_counter(&w->w, group, "used by this process (NVML)", NULL, rank++));
    if (c->used_bytes)
        put_levels(w, c, c->used_bytes,
                   vt_perfetto_counter(&w->w, group, "used by all processes (NVML)", NULL, rank++));
    bands(w, c, group, rank);
}

/* --- phases --- */

/* Slices of one track must be nested. NVTX ranges may overlap: then one of them goes to an additional track. */
struct lane {
    uint64_t track;
    const struct vt_phase **open; /* the innermost last */
    uint32_t count, room;
};

struct lanes {
    uint32_t tid;
    struct lane *lanes;
    uint32_t count, room;
};

static void end_phases(struct writer *w, struct lane *lane, uint64_t until) {
    for (; lane->count; lane->count--) {
        const struct vt_phase *p = lane->open[lane->count - 1];
        if (p->end > until)
            return;
        if (p->end != VT_UNKNOWN)
            vt_perfetto_event(&w->w, VT_PERFETTO_END, lane->track, when(w, p->end), NULL, NULL,
                              NULL, 0);
    }
}

static struct lane *add_lane(struct writer *w, struct lanes *l) {
    struct lane lane = {0};
    if (l->count) {
        VT_SCOPED char *name = vt_formatted("thread %" PRIu32 ": overlapping phases", l->tid);
        lane.track = vt_perfetto_track(&w->w, w->track, name, w->rank++);
    } else {
        /* the first thread of a process has the process's number */
        bool first = l->tid == w->process->pid;
        lane.track =
            vt_perfetto_thread(&w->w, w->track, w->pid, first ? w->pid : unique(w, l->tid));
    }
    VT_GROW(l->lanes, l->count, l->room);
    l->lanes[l->count] = lane;
    return &l->lanes[l->count++];
}

/* Returns NULL if too many phases overlap: the trace would be unreadable, and each phase is searched for in every
 * lane. */
static struct lane *lane_for(struct writer *w, struct lanes *l, const struct vt_phase *p) {
    for (uint32_t i = 0; i < l->count; i++) {
        struct lane *lane = &l->lanes[i];
        end_phases(w, lane, p->start);
        if (!lane->count || p->end <= lane->open[lane->count - 1]->end)
            return lane;
    }
    return l->count < LANES_MOST ? add_lane(w, l) : NULL;
}

static void phase(struct writer *w, struct lanes *l, const struct vt_phase *p) {
    const char *name = p->name ? p->name : "?";
    struct lane *lane = p->mark && l->count ? &l->lanes[0] : lane_for(w, l, p);
    if (p->mark) {
        INSTANT(w, lane->track, p->start, "mark", name, {"domain", p->domain, VT_UNKNOWN});
        return;
    }
    if (!lane) {
        INSTANT(w, l->lanes[0].track, p->start, "phase", name, {"domain", p->domain, VT_UNKNOWN},
                {"end_ns", NULL, p->end}, {"peak_bytes", NULL, p->peak_bytes});
        return;
    }
    const struct vt_perfetto_note notes[] = {{"domain", p->domain, VT_UNKNOWN},
                                             {"live_at_start", NULL, p->live_at_start},
                                             {"live_at_end", NULL, p->live_at_end},
                                             {"peak_bytes", NULL, p->peak_bytes}};
    vt_perfetto_event(&w->w, VT_PERFETTO_BEGIN, lane->track, when(w, p->start), "phase", name,
                      notes, sizeof notes / sizeof *notes);
    VT_GROW(lane->open, lane->count, lane->room);
    lane->open[lane->count++] = p;
}

static void phases(struct writer *w) {
    const struct vt_process *p = w->process;
    VT_SCOPED_MAP by_tid = {0};
    struct lanes *threads = NULL;
    uint32_t thread_count = 0, room = 0;
    for (uint32_t i = 0; i < p->phase_count; i++) {
        uint32_t index = vt_map_get(&by_tid, p->phases[i].thread);
        if (index == VT_MAP_NONE) {
            VT_GROW(threads, thread_count, room);
            index = thread_count++;
            threads[index] = (struct lanes){.tid = p->phases[i].thread};
            vt_map_put(&by_tid, p->phases[i].thread, index);
        }
        phase(w, &threads[index], &p->phases[i]);
    }
    for (uint32_t i = 0; i < thread_count; i++) {
        for (uint32_t k = 0; k < threads[i].count; k++) {
            end_phases(w, &threads[i].lanes[k], VT_UNKNOWN);
            free(threads[i].lanes[k].open);
        }
        free(threads[i].lanes);
    }
    free(threads);
}

/* --- instants --- */

static void trace_leaks(struct writer *w) {
    const struct vt_process *p = w->process;
    uint64_t track = 0;
    for (uint32_t i = 0; i < p->leak_count; i++) {
        const struct vt_leak *l = &p->leaks[i];
        const struct vt_site *site = &p->sites[l->sites[0]];
        uint64_t at =
            l->growth && l->growth->since != VT_UNKNOWN ? l->growth->since : site->first_at;
        if (!track)
            track = vt_perfetto_track(&w->w, w->track, "leaks: since when", w->rank++);
        VT_SCOPED char *line = vt_frame_text(p, vt_stack_main_frame(l->stack), NAME_WIDTH);
        INSTANT(w, track, at == VT_UNKNOWN ? 0 : at, "leak", line,
                {"verdict", vt_verdict_names[l->verdict], 0}, {"why", l->why, VT_UNKNOWN},
                {"advice", l->advice, VT_UNKNOWN}, {"kept_by", l->kept_by, VT_UNKNOWN},
                {"live_bytes", NULL, l->live_bytes}, {"site", site->name, 0});
    }
}

static void ooms(struct writer *w) {
    const struct vt_process *p = w->process;
    uint64_t track = 0;
    for (uint32_t i = 0; i < p->oom_count; i++) {
        const struct vt_oom *o = &p->ooms[i];
        if (!track)
            track = vt_perfetto_track(&w->w, w->track, "out of memory", w->rank++);
        VT_SCOPED char *line = vt_frame_text(p, vt_stack_main_frame(o->stack), NAME_WIDTH);
        VT_SCOPED char *name = vt_formatted("out of memory, %s", vt_oom_outcome_names[o->outcome]);
        INSTANT(w, track, o->at, "out of memory", name,
                {"cause", vt_oom_cause_names[o->cause], VT_UNKNOWN}, {"why", o->why, VT_UNKNOWN},
                {"advice", o->advice, VT_UNKNOWN}, {"outcome", vt_oom_outcome_names[o->outcome], 0},
                {"asked_by", line, 0}, {"allocator", o->allocator, VT_UNKNOWN},
                {"requested_bytes", NULL, o->requested_bytes}, {"free_bytes", NULL, o->free_bytes},
                {"total_bytes", NULL, o->total_bytes}, {"tracked_bytes", NULL, o->tracked_bytes},
                {"cached_bytes", NULL, o->cached_bytes},
                {"largest_free_bytes", NULL, o->largest_free_bytes},
                {"device", NULL, vt_device_number(o->device)}, {"thread", NULL, o->thread});
    }
}

static void alarms(struct writer *w) {
    const struct vt_timeline *t = w->process->timeline;
    uint64_t track = 0;
    for (uint32_t i = 0; t && i < t->alarm_count; i++) {
        const struct vt_alarm *a = &t->alarms[i];
        if (!track)
            track = vt_perfetto_track(&w->w, w->track, "alarms", w->rank++);
        INSTANT(w, track, a->at, "alarm", "alarm", {"live_bytes", NULL, a->live_bytes},
                {"mark_bytes", NULL, a->mark_bytes}, {"device", NULL, vt_device_number(a->device)});
    }
}

/* A snapshot with its largest owners. */
static void snapshots(struct writer *w) {
    const struct vt_process *p = w->process;
    uint64_t track = 0;
    for (uint32_t i = 0; i < p->snapshot_count; i++) {
        const struct vt_snapshot *s = &p->snapshots[i];
        if (s->passing)
            continue;
        if (!track)
            track = vt_perfetto_track(&w->w, w->track, "owners: snapshots", w->rank++);
        struct vt_perfetto_note notes[OWNERS_MOST + 2] = {{"phase", s->phase, VT_UNKNOWN},
                                                          {"unowned", NULL, s->unowned_bytes}};
        uint32_t owners = s->owner_count < OWNERS_MOST ? s->owner_count : OWNERS_MOST;
        for (uint32_t k = 0; k < owners; k++)
            notes[2 + k] = (struct vt_perfetto_note){s->owners[k].name, NULL, s->owners[k].bytes};
        VT_SCOPED char *name = vt_formatted("snapshot, %s", vt_snapshot_why_names[s->why]);
        instant(w, track, s->at, "snapshot", name, notes, 2 + owners);
    }
}

/* --- the trace --- */

static void trace_process(struct writer *w, const struct vt_process *p) {
    VT_SCOPED_STRING name = {0};
    VT_SCOPED char *label = p->rank >= 0 ? vt_formatted("rank %d", p->rank) : NULL;
    for (uint32_t i = 0; i < p->command_count; i++)
        vt_string_format(&name, "%s%s", i ? " " : "",
                         i ? p->command[i] : vt_basename(p->command[i]));
    w->process = p;
    w->pid = unique(w, p->pid);
    w->rank = 0;
    w->track = vt_perfetto_process(
        &w->w, &(struct vt_perfetto_process){.pid = w->pid,
                                             .name = name.text ? name.text : "process",
                                             .command = p->command,
                                             .command_count = p->command_count,
                                             .started_at = p->started_at,
                                             .label = label});
    ooms(w);
    alarms(w);
    for (uint32_t i = 0; p->timeline && i < p->timeline->course_count; i++)
        if (!is_empty(&p->timeline->courses[i]))
            course(w, &p->timeline->courses[i]);
    trace_leaks(w);
    snapshots(w);
    phases(w);
}

int vt_export_perfetto_write(const struct vt_model *model, const struct vt_export_options *options,
                             FILE *out) {
    struct writer w = {.next_free = 0};
    (void)options;
    vt_perfetto_open(&w.w, out, model->process_count ? model->processes[0].started_at : 0);
    for (uint32_t i = 0; i < model->process_count; i++)
        trace_process(&w, &model->processes[i]);
    vt_perfetto_close(&w.w);
    vt_map_free(&w.taken);
    return 0;
}
