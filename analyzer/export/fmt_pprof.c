/* SPDX-License-Identifier: MIT */
/*
 * A profile for pprof and the tools that read its format (speedscope, Grafana, Datadog): profile.proto,
 * gzip-compressed. Each value gives two sample types, in bytes and in blocks, with the names of a heap profile. If a
 * snapshot at the end shows a site's owners, its memory at the end is divided among them, into samples that differ in
 * their labels.
 */
#include "profile.h"
#include "samples.h"

#include "vramtrace/log_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define VALUES      (2 * VT_EXPORT_VALUES) /* per sample: blocks and bytes of each value */
#define LABELS      6
#define PHASES_SEEN 64 /* number of open phases examined per call site */

struct writer {
    const struct vt_export_options *options;
    struct vt_profile *profile;
    struct vt_samples samples;
    const struct vt_process *process; /* the current sample's, like the next two */
    struct vt_map modules;            /* address of a path -> index of the module */
    const char **phases; /* for each site: the phase in which all of it was allocated */
    struct vt_sample_stack stack;
    uint64_t *locations; /* the current sample's, innermost first */
    uint32_t depth, room;
    struct vt_profile_line *lines; /* of the current location */
    uint32_t line_room;
};

/* --- phases --- */

struct order {
    uint64_t at;
    uint32_t index;
};

static int by_time(const void *a, const void *b) {
    const struct order *x = a, *y = b;
    return VT_ORDER({x->at, y->at}, {x->index, y->index});
}

/* Finds for each site the innermost phase that was open from its first allocation to its last; NULL: there is none.
 * Phases are sorted by start, so one forward pass suffices. */
static const char **find_phases(const struct vt_process *p) {
    const char **found = vt_alloc(p->site_count + 1, sizeof *found);
    VT_SCOPED struct order *sites = vt_alloc(p->site_count + 1, sizeof *sites);
    uint32_t *open = vt_alloc(p->phase_count + 1, sizeof *open), count = 0, next = 0;
    for (uint32_t i = 0; i < p->site_count; i++)
        sites[i] = (struct order){p->sites[i].first_at, i};
    vt_sort(sites, p->site_count, sizeof *sites, by_time);
    for (uint32_t i = 0; i < p->site_count && sites[i].at != VT_UNKNOWN; i++) {
        const struct vt_site *site = &p->sites[sites[i].index];
        for (; next < p->phase_count && p->phases[next].start <= site->first_at; next++) {
            while (count && p->phases[open[count - 1]].end < p->phases[next].start)
                count--;
            if (!p->phases[next].mark)
                open[count++] = next;
        }
        for (uint32_t k = count; k-- > 0 && count - k <= PHASES_SEEN && !found[sites[i].index];)
            if (p->phases[open[k]].end >= site->last_at)
                found[sites[i].index] = p->phases[open[k]].name;
    }
    free(open);
    return found;
}

/* --- a process --- */

static void begin_process(struct writer *w, const struct vt_process *p) {
    vt_map_free(&w->modules);
    w->modules = (struct vt_map){0};
    free(w->phases);
    w->process = p;
    w->phases = find_phases(p);
    for (uint32_t i = 0; i < p->module_count; i++) {
        vt_map_put(&w->modules, (uintptr_t)p->modules[i].path, i);
        if (vt_same_text(p->modules[i].path, p->exe)) /* readers expect the program first */
            vt_profile_mapping(w->profile, &p->modules[i]);
    }
}

static void add_comments(const struct writer *w, const struct vt_model *model) {
    Perftools__Profiles__Profile *m = vt_profile_message(w->profile);
    uint32_t count = 0;
    m->comment = vt_alloc(1 + 2 * (size_t)model->process_count, sizeof *m->comment);
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct vt_process *p = &model->processes[i];
        VT_SCOPED_STRING text = {0};
        vt_string_format(&text, "pid %" PRIu32 " on %s:", p->pid, p->host ? p->host : "?");
        for (uint32_t k = 0; k < p->command_count; k++)
            vt_string_format(&text, " %s", p->command[k]);
        m->comment[count++] = vt_profile_text(w->profile, text.text);
        if (p->simulated)
            m->comment[count++] = vt_profile_text(w->profile, "on vramtrace's simulated GPU");
    }
    m->n_comment = count;
}

/* --- the stack of a sample --- */

static void add_location(struct writer *w, const struct vt_frame *frame, uint32_t line_count) {
    uint64_t mapping = 0, address = 0;
    uint32_t module =
        frame && frame->module ? vt_map_get(&w->modules, (uintptr_t)frame->module) : VT_MAP_NONE;
    if (module != VT_MAP_NONE) {
        mapping = vt_profile_mapping(w->profile, &w->process->modules[module]);
        address = w->process->modules[module].bias + frame->offset;
    }
    VT_GROW(w->locations, w->depth, w->room);
    w->locations[w->depth++] =
        vt_profile_location(w->profile, mapping, address, w->lines, line_count);
}

static void find_locations(struct writer *w, const struct vt_sample *sample) {
    uint32_t lines = 0;
    vt_samples_stack(&w->samples, sample, w->options->native, &w->stack);
    w->depth = 0;
    for (uint32_t i = w->stack.count; i-- > 0;) {
        const struct vt_sample_frame *f = &w->stack.frames[i];
        VT_GROW(w->lines, lines, w->line_room);
        w->lines[lines++] = (struct vt_profile_line){f->name, f->frame};
        if (f->frame && f->frame->inlined && i)
            continue;
        add_location(w, f->frame, lines);
        lines = 0;
    }
}

/* --- its labels and values --- */

static const char *device_name(const struct vt_sample *sample, char room[16]) {
    if (sample->layer == VT_LAYER_HOST || sample->layer == VT_LAYER_MANAGED)
        return vt_layer_name(sample->layer);
    if (sample->device >= VT_DEVICE_HOST)
        return "unknown";
    snprintf(room, 16, "%u", sample->device);
    return room;
}

/* Adds a part of a sample. `owner`: the part's owner; NULL: unknown. */
static void add_part(struct writer *w, const struct vt_sample *sample,
                     const struct vt_memory_owner *owner, const uint64_t bytes[VT_EXPORT_VALUES],
                     const uint64_t counts[VT_EXPORT_VALUES]) {
    struct vt_profile_label labels[LABELS];
    uint32_t count = 0;
    int64_t values[VALUES];
    char device[16], rank[16], pid[16];
    const char *phase = sample->site ? w->phases[sample->site - w->process->sites] : NULL;
    for (unsigned i = 0; i < VT_EXPORT_VALUES; i++) {
        values[2 * i] = (int64_t)counts[i];
        values[2 * i + 1] = (int64_t)bytes[i];
    }
    labels[count++] = (struct vt_profile_label){"device", device_name(sample, device)};
    snprintf(pid, sizeof pid, "%" PRIu32, w->process->pid);
    labels[count++] = (struct vt_profile_label){"pid", pid};
    if (w->process->rank >= 0) {
        snprintf(rank, sizeof rank, "%d", w->process->rank);
        labels[count++] = (struct vt_profile_label){"rank", rank};
    }
    if (phase)
        labels[count++] = (struct vt_profile_label){"phase", phase};
    if (owner) {
        labels[count++] = (struct vt_profile_label){"owner", owner->name};
        labels[count++] = (struct vt_profile_label){"role", vt_purpose_names[owner->purpose]};
    }
    vt_profile_sample(w->profile, w->locations, w->depth, values, VALUES, labels, count);
}

static uint64_t subtract_part(uint64_t *from, uint64_t wanted) {
    uint64_t part = wanted < *from ? wanted : *from;
    *from -= part;
    return part;
}

/* Whether this owner has the memory at the end: a leak's owner may come from an earlier snapshot. */
static bool is_of_end(const struct vt_process *p, const struct vt_owned_by *by) {
    const struct vt_snapshot *snapshot = vt_process_snapshot(p);
    return snapshot && snapshot->why == VT_SNAPSHOT_END && !by->seen;
}

static void add_sample(struct writer *w, const struct vt_sample *sample) {
    uint64_t bytes[VT_EXPORT_VALUES], counts[VT_EXPORT_VALUES], left = 0;
    memcpy(bytes, sample->bytes, sizeof bytes);
    memcpy(counts, sample->counts, sizeof counts);
    if (sample->process != w->process)
        begin_process(w, sample->process);
    find_locations(w, sample);
    const struct vt_owned_list *owned = sample->site ? &sample->site->owned : NULL;
    for (uint32_t i = 0; owned && i < owned->count; i++) {
        const struct vt_owned_by *by = &owned->owners[i];
        uint64_t its_bytes[VT_EXPORT_VALUES] = {0}, its_counts[VT_EXPORT_VALUES] = {0}, any = 0;
        for (unsigned value = 0; value < VT_EXPORT_VALUES; value++) {
            if (value != VT_EXPORT_LEAKED &&
                (value != VT_EXPORT_LIVE || !is_of_end(w->process, by)))
                continue;
            any |= its_bytes[value] = subtract_part(&bytes[value], by->bytes);
            its_counts[value] = subtract_part(&counts[value], by->count);
        }
        if (any)
            add_part(w, sample, by->owner, its_bytes, its_counts);
    }
    for (unsigned i = 0; i < VT_EXPORT_VALUES; i++)
        left |= bytes[i] | counts[i];
    if (left)
        add_part(w, sample, NULL, bytes, counts);
}

/* --- the file --- */

static Perftools__Profiles__ValueType *value_type(const struct writer *w, const char *type,
                                                  const char *unit) {
    Perftools__Profiles__ValueType *made = vt_alloc(1, sizeof *made);
    perftools__profiles__value_type__init(made);
    made->type = vt_profile_text(w->profile, type);
    made->unit = vt_profile_text(w->profile, unit);
    return made;
}

static void add_value_types(const struct writer *w) {
    Perftools__Profiles__Profile *m = vt_profile_message(w->profile);
    m->n_sample_type = VALUES;
    m->sample_type = vt_alloc(VALUES, sizeof *m->sample_type);
    for (unsigned i = 0; i < VT_EXPORT_VALUES; i++) {
        VT_SCOPED char *objects = vt_formatted("%s_objects", vt_export_value_names[i]);
        VT_SCOPED char *space = vt_formatted("%s_space", vt_export_value_names[i]);
        m->sample_type[2 * i] = value_type(w, objects, "count");
        m->sample_type[2 * i + 1] = value_type(w, space, "bytes");
        if (i == w->options->value)
            m->default_sample_type = vt_profile_text(w->profile, space);
    }
    m->period_type = value_type(w, "space", "bytes");
    m->period = 1;
}

/* Adds the times of the part of the run that the model shows. */
static void add_times(const struct writer *w, const struct vt_model *model) {
    Perftools__Profiles__Profile *m = vt_profile_message(w->profile);
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct vt_process *p = &model->processes[i];
        uint64_t since = p->window_since == VT_UNKNOWN ? 0 : p->window_since;
        uint64_t until = p->window_until < p->duration ? p->window_until : p->duration;
        int64_t begin = (int64_t)(p->started_at + since);
        if (p->started_at && (!m->time_nanos || begin < m->time_nanos))
            m->time_nanos = begin;
        if (until > since && (int64_t)(until - since) > m->duration_nanos)
            m->duration_nanos = (int64_t)(until - since);
    }
}

static void free_writer(struct writer *w) {
    vt_profile_close(w->profile);
    vt_samples_stack_free(&w->stack);
    vt_samples_free(&w->samples);
    vt_map_free(&w->modules);
    free(w->phases);
    free(w->locations);
    free(w->lines);
}

int vt_export_pprof_write(const struct vt_model *model, const struct vt_export_options *options,
                          FILE *out) {
    struct writer w = {.options = options, .profile = vt_profile_open()};
    vt_samples_make(model, &w.samples);
    add_value_types(&w);
    add_times(&w, model);
    add_comments(&w, model);
    for (uint32_t i = 0; i < w.samples.count; i++)
        add_sample(&w, &w.samples.items[i]);
    int error = vt_profile_write(w.profile, out);
    free_writer(&w);
    return error;
}
