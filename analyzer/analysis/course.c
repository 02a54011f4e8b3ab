/* SPDX-License-Identifier: MIT */
/*
 * Memory by line and class over the run (struct vt_course). The bands are chosen at the run's end; each sums up its
 * sites' bytes per time slot (replay/pictures.h).
 */
#include "draw.h"

#include <stdlib.h>
#include <string.h>

#define NO_BAND UINT32_MAX

/* --- choosing the bands --- */

struct line {
    uint64_t key, peak_bytes;
    uint32_t *sites, site_count, site_room;
    bool leak;
};

static bool is_host(const struct vt_site *s) {
    return s->layer == VT_LAYER_HOST || s->layer == VT_LAYER_MANAGED;
}

/* Whether caching allocators divide a site's memory into blocks. */
static bool is_reserve(const struct vt_site *s) {
    return s->layer == VT_LAYER_DRIVER && (s->segments || s->class == VT_CLASS_CACHE);
}

static int largest_line_first(const void *a, const void *b) {
    const struct line *x = a, *y = b;
    return VT_ORDER({y->peak_bytes, x->peak_bytes}, {x->sites[0], y->sites[0]});
}

/* The lines of a device's own allocations and blocks. The leaking part of a line is a separate line: a shared
 * allocation helper is not a leak as a whole. */
static struct line *find_lines(const struct vt_process *p, unsigned device, const bool *leaks,
                               uint32_t *count) {
    VT_SCOPED_MAP by_key = {0};
    struct line *lines = NULL;
    uint32_t room = 0;
    *count = 0;
    for (uint32_t i = 0; i < p->site_count; i++) {
        const struct vt_site *s = &p->sites[i];
        if (s->device != device || is_reserve(s) || s->class == VT_CLASS_RUNTIME)
            continue;
        uint64_t key =
            vt_mix(vt_site_growth_line(s) + vt_site_caller_line(s)) + s->before + 2 * leaks[i];
        uint32_t at = vt_map_add(&by_key, key, *count);
        if (at == *count)
            *VT_ADD(lines, *count, room) = (struct line){.key = key};
        struct line *line = &lines[at];
        *VT_ADD(line->sites, line->site_count, line->site_room) = i;
        line->peak_bytes += s->peak_bytes;
        line->leak = leaks[i];
    }
    vt_sort(lines, *count, sizeof *lines, largest_line_first);
    return lines;
}

static struct vt_band *add_band(struct vt_course *c, enum vt_band_kind kind) {
    struct vt_band *band = &c->bands[c->band_count++];
    band->kind = kind;
    band->leak = kind == VT_BAND_LEAK;
    band->bytes = vt_alloc(c->slot_count, sizeof *band->bytes);
    return band;
}

/* Adds sites to a band; `number` maps each to the band. */
static void join(struct vt_course *c, uint32_t band, const uint32_t *sites, uint32_t count,
                 uint32_t *number) {
    struct vt_band *b = &c->bands[band];
    b->sites = vt_realloc(b->sites, b->site_count + count, sizeof *b->sites);
    for (uint32_t i = 0; i < count; i++) {
        b->sites[b->site_count++] = sites[i];
        number[sites[i]] = band;
    }
}

static int by_index(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Sorts each band's sites by index, so by live, then peak bytes, descending. Drops empty bands. */
static void settle_bands(const struct vt_process *p, struct vt_course *c, uint32_t *number) {
    uint32_t kept = 0, now[VT_COURSE_LINES + 4];
    for (uint32_t i = 0; i < c->band_count; i++) {
        struct vt_band *b = &c->bands[i];
        now[i] = kept;
        if (!b->site_count) {
            free(b->sites);
            free(b->bytes);
            continue;
        }
        vt_sort(b->sites, b->site_count, sizeof *b->sites, by_index);
        c->bands[kept++] = *b;
    }
    for (uint32_t i = 0; i < p->site_count; i++)
        if (number[i] != NO_BAND && p->sites[i].device == c->device)
            number[i] = now[number[i]];
    c->band_count = kept;
}

/* Makes the bands of a device. `number`: from this device's sites to their bands. */
static void choose_bands(const struct vt_process *p, const bool *leaks, struct vt_course *c,
                         uint32_t *number) {
    uint32_t count;
    struct line *lines = find_lines(p, c->device, leaks, &count);
    c->bands = vt_alloc(VT_COURSE_LINES + 4, sizeof *c->bands);
    uint32_t own = count < VT_COURSE_LINES ? count : VT_COURSE_LINES;
    for (uint32_t i = 0; i < own; i++) {
        add_band(c, VT_BAND_LINE)->leak = lines[i].leak;
        join(c, i, lines[i].sites, lines[i].site_count, number);
    }
    static const enum vt_band_kind others[] = {VT_BAND_LEAK, VT_BAND_REST, VT_BAND_RUNTIME,
                                               VT_BAND_IDLE};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        add_band(c, others[i]);
    for (uint32_t i = 0; i < count; i++) {
        if (i >= own)
            join(c, lines[i].leak ? own : own + 1, lines[i].sites, lines[i].site_count, number);
        free(lines[i].sites);
    }
    for (uint32_t i = 0; i < p->site_count; i++)
        if (p->sites[i].device == c->device && is_reserve(&p->sites[i]))
            join(c, own + 3, &i, 1, number);
        else if (p->sites[i].device == c->device && p->sites[i].class == VT_CLASS_RUNTIME)
            join(c, own + 2, &i, 1, number);
    free(lines);
    settle_bands(p, c, number);
}

/* --- bytes per slot --- */

/* Adds bytes to a site's band from a slot on; blocks are subtracted from the IDLE band. */
static void add(struct vt_course *c, uint32_t band, bool block, uint32_t slot, uint64_t more) {
    struct vt_band *last = &c->bands[c->band_count - 1];
    if (band == NO_BAND)
        return;
    c->bands[band].bytes[slot] += more;
    if (block && last->kind == VT_BAND_IDLE)
        last->bytes[slot] -= more;
}

/* Fills the bands with the changes from slot to slot; sum_up accumulates them. `course_of`: a device's course, counted
 * from 1; `number`: the band of each of the model's sites. */
static void add_sites(const struct vt_sources *s, const struct vt_pictures *pictures,
                      struct vt_timeline *t, const uint32_t *course_of, const uint32_t *number) {
    const struct vt_replay *r = s->replay;
    VT_SCOPED uint64_t *held = vt_alloc(r->site_count, sizeof *held);
    uint32_t end = r->slots.slot + 1;
    struct vt_picture_step last[2];
    for (size_t i = 0; i < pictures->step_count + r->site_count; i++) {
        bool settled = i < pictures->step_count;
        uint32_t site = settled ? pictures->steps[i].site : (uint32_t)(i - pictures->step_count);
        uint32_t course = course_of[r->sites[site].device];
        if (s->index[site] == VT_NO_SITE || !course)
            continue;
        uint32_t count = settled ? 1 : vt_pictures_last_steps(pictures, r, site, last);
        const struct vt_picture_step *steps = settled ? &pictures->steps[i] : last;
        for (uint32_t k = 0; k < count; held[site] = steps[k++].bytes)
            add(&t->courses[course - 1], number[s->index[site]],
                r->sites[site].layer == VT_LAYER_FRAMEWORK, steps[k].slot,
                steps[k].bytes - held[site]);
        if (!settled)
            add(&t->courses[course - 1], number[s->index[site]],
                r->sites[site].layer == VT_LAYER_FRAMEWORK, end,
                r->sites[site].live_bytes - held[site]);
    }
}

/* Accumulates the changes. A sum below 0 comes from blocks outside of the known segments. */
static void sum_up(struct vt_course *c) {
    for (uint32_t i = 0; i < c->band_count; i++) {
        uint64_t sum = 0, *bytes = c->bands[i].bytes;
        for (uint32_t k = 0; k < c->slot_count; k++) {
            sum += bytes[k];
            bytes[k] = (int64_t)sum > 0 ? sum : 0;
        }
    }
}

static void open_course(const struct vt_sources *s, const struct vt_process *p, unsigned device,
                        const bool *leaks, uint32_t *number, struct vt_course *c) {
    const struct vt_slots *slots = &s->replay->slots;
    const struct vt_time_slot *held =
        slots->device_of[device] ? vt_slots_device(slots, device)->slots : NULL;
    uint64_t end = slots->end > slots->begin ? slots->end : slots->begin;
    c->device = device;
    c->begin = vt_clock_ns(s->clock, slots->begin);
    c->end = vt_clock_ns(s->clock, end);
    c->slot_count = slots->slot + 2;
    c->at = vt_alloc(c->slot_count, sizeof *c->at);
    c->live_bytes = vt_alloc(c->slot_count, sizeof *c->live_bytes);
    for (uint32_t i = 0; i <= slots->slot; i++) {
        uint64_t begin = vt_slots_begin_of(slots, i);
        c->at[i] = vt_clock_ns(s->clock, held && held[i].at > begin ? held[i].at : begin);
        c->live_bytes[i] = held ? held[i].driver : 0;
    }
    c->at[slots->slot + 1] = c->end;
    c->live_bytes[slots->slot + 1] = held ? held[slots->slot].end : 0;
    choose_bands(p, leaks, c, number);
}

/* --- NVML's samples --- */

static uint64_t *unknowns(uint32_t count) {
    uint64_t *row = vt_alloc(count, sizeof *row);
    memset(row, 0xff, count * sizeof *row);
    return row;
}
static_assert(VT_UNKNOWN == UINT64_MAX, "all bits");

/* Uses the highest sample of each slot. */
static void fill_samples(const struct vt_sources *s, struct vt_course *out) {
    const struct vt_replay *r = s->replay;
    uint32_t gpu;
    if (!vt_untracked_gpu(s, out->device, &gpu))
        return;
    for (size_t i = 0; i < r->sample_count; i++) {
        const struct vt_replay_sample *sample = &r->samples[i];
        if (sample->gpu != gpu || sample->ticks < r->slots.begin || sample->ticks > r->slots.end)
            continue;
        if (!out->used_bytes) {
            out->used_bytes = unknowns(out->slot_count);
            out->own_bytes = unknowns(out->slot_count);
        }
        uint64_t slot = (sample->ticks - r->slots.begin) >> r->slots.shift;
        uint64_t *used = &out->used_bytes[slot], *own = &out->own_bytes[slot];
        if (sample->used_bytes != VT_SAMPLE_UNKNOWN &&
            (*used == VT_UNKNOWN || sample->used_bytes > *used))
            *used = sample->used_bytes;
        if (sample->own_bytes != VT_SAMPLE_UNKNOWN &&
            (*own == VT_UNKNOWN || sample->own_bytes > *own))
            *own = sample->own_bytes;
    }
}

void vt_draw_courses(const struct vt_sources *s, const struct vt_pictures *pictures,
                     const struct vt_process *p, struct vt_timeline *t) {
    VT_SCOPED bool *leaks = vt_alloc(p->site_count, sizeof *leaks);
    VT_SCOPED uint32_t *number = vt_alloc(p->site_count, sizeof *number);
    uint32_t course_of[256] = {0};
    bool host = false;
    for (uint32_t i = 0; i < p->leak_count; i++)
        for (uint32_t k = 0; k < p->leaks[i].site_count; k++)
            leaks[p->leaks[i].sites[k]] = true;
    for (uint32_t i = 0; i < p->site_count; i++) {
        number[i] = NO_BAND;
        host |= is_host(&p->sites[i]) && p->sites[i].device == VT_DEVICE_HOST;
    }
    t->courses = vt_alloc(p->device_count + 1, sizeof *t->courses);
    for (uint32_t i = 0; i < p->device_count + host; i++) {
        unsigned device = i < p->device_count ? p->devices[i].ordinal & 0xff : VT_DEVICE_HOST;
        open_course(s, p, device, leaks, number, &t->courses[t->course_count++]);
        course_of[device] = t->course_count;
    }
    add_sites(s, pictures, t, course_of, number);
    for (uint32_t i = 0; i < t->course_count; i++) {
        sum_up(&t->courses[i]);
        if (t->courses[i].device != VT_DEVICE_HOST)
            fill_samples(s, &t->courses[i]);
    }
}
