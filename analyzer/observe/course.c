/* SPDX-License-Identifier: MIT */
/*
 * Memory by line and class over the run (struct vt_course).
 *
 * A slot shows its highest moment. To copy all bands whenever a level is the highest so far would be
 * to copy at nearly every allocation while memory fills. So a new highest moment only counts one up,
 * and a band remembers the count at its last change: if it differs when the band changes again, the
 * band held the same at the latest highest moment, and that is written down first.
 */
#include "parts.h"

#include "vramtrace/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct band {
    struct vt_band *out;
    /* now; IDLE: segments less the blocks in them, below 0 while blocks lie outside */
    int64_t bytes;
    uint64_t seen; /* course.highs when it was written last */
};

struct course {
    struct vt_course *out;
    struct band *bands;
    uint64_t driver, blocks; /* live now */
    uint32_t slot;
    uint64_t high_driver, high_blocks, high_at; /* the slot's highest moment; ticks */
    uint64_t highs; /* how many highest moments there were, in all slots */
    uint64_t alarm; /* bytes from which VRAMTRACE_ALARM says a line; UINT64_MAX: never */
};

#define NO_BAND UINT32_MAX

struct vt_course_maker {
    const struct vt_sources *sources;
    const struct vt_process *process;
    uint64_t begin, end; /* ticks */
    struct course *courses;
    uint32_t course_count;
    uint16_t course_of[256]; /* by device + 1; 0: none */
    uint32_t *band_of;       /* by index of the replay's site; NO_BAND: filtered out */
    struct vt_alarm *alarms;
    uint32_t alarm_count, alarm_room;
    uint64_t alarms_left_out;
    uint32_t *idle_of; /* of a block's site, and of a segment's: the IDLE band; NO_BAND */
};

/* --- choosing the bands --- */

struct line {
    uint64_t key, peak_bytes;
    uint32_t *sites, site_count, site_room;
    bool leak;
};

static bool is_host(const struct vt_site *s) {
    return s->layer == VT_LAYER_HOST || s->layer == VT_LAYER_MANAGED;
}

/* Whether a site's memory is what caching allocators divide. */
static bool is_reserve(const struct vt_site *s) {
    return s->layer == VT_LAYER_DRIVER && (s->segments || s->class == VT_CLASS_CACHE);
}

static int largest_line_first(const void *a, const void *b) {
    const struct line *x = a, *y = b;
    return VT_ORDER({y->peak_bytes, x->peak_bytes}, {x->sites[0], y->sites[0]});
}

/* The lines of a device's own allocations and blocks. What of a line is in a leak is a line of its own:
 * a helper that all of a program allocates through is not a leak as a whole. */
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
            vt_mix(vt_site_line_key(s) + vt_site_caller_key(s)) + s->before + 2 * leaks[i];
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

/* Adds sites to a band; `number` of each becomes the band's. */
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

/* Sites are by what they hold and held: the largest first. Bands without a site go. */
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

/* Makes the bands of a device. `number`: by site of the model, of this device's alone. */
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

/* Where the tracer says that a device holds much (preload/books/limit.c). */
static uint64_t alarm_of(const struct vt_process *p, unsigned device) {
    const char *text = vt_process_variable(p, "VRAMTRACE_ALARM");
    const struct vt_device *d = vt_process_device(p, device);
    uint64_t total = d ? d->total_bytes : VT_UNKNOWN, bytes = 0;
    uint32_t share;
    if (!text)
        return UINT64_MAX;
    if (!vt_text_read_share(text, &share))
        bytes = total == VT_UNKNOWN ? 0 : (uint64_t)((vt_text_wide)total * share / VT_TEXT_WHOLE);
    else if (vt_text_read_size(text, &bytes))
        return UINT64_MAX;
    return bytes ? bytes : UINT64_MAX;
}

static void open_course(struct vt_course_maker *m, unsigned device, const bool *leaks,
                        uint32_t *number) {
    struct course *course = &m->courses[m->course_count++];
    struct vt_course *c = course->out = vt_alloc(1, sizeof *c);
    m->course_of[device] = (uint16_t)m->course_count;
    uint64_t ticks = m->end - m->begin;
    c->device = device;
    c->begin = vt_clock_ns(m->sources->clock, m->begin);
    c->end = vt_clock_ns(m->sources->clock, m->end);
    c->slot_count = ticks < VT_COURSE_SLOTS - 1 ? (uint32_t)ticks + 2 : VT_COURSE_SLOTS;
    c->at = vt_alloc(c->slot_count, sizeof *c->at);
    c->live_bytes = vt_alloc(c->slot_count, sizeof *c->live_bytes);
    choose_bands(m->process, leaks, c, number);
    course->bands = vt_alloc(c->band_count, sizeof *course->bands);
    for (uint32_t i = 0; i < c->band_count; i++)
        course->bands[i].out = &c->bands[i];
    course->high_at = m->begin;
    course->alarm = alarm_of(m->process, device);
    course->highs = 1;
}

/* For each of the replay's sites: its band, and the IDLE band that it counts in. */
static void number_sites(struct vt_course_maker *m, const uint32_t *number) {
    size_t count = m->sources->replay->site_count;
    m->band_of = vt_alloc(count, sizeof *m->band_of);
    m->idle_of = vt_alloc(count, sizeof *m->idle_of);
    for (size_t i = 0; i < count; i++) {
        uint32_t at = m->sources->index[i];
        m->band_of[i] = m->idle_of[i] = NO_BAND;
        if (at == VT_NO_SITE)
            continue;
        const struct vt_site *s = &m->process->sites[at];
        uint16_t course = m->course_of[s->device & 0xff];
        if (!course)
            continue;
        const struct vt_course *c = m->courses[course - 1].out;
        m->band_of[i] = number[at];
        bool has_idle = c->band_count && c->bands[c->band_count - 1].kind == VT_BAND_IDLE;
        if (has_idle && s->layer == VT_LAYER_FRAMEWORK)
            m->idle_of[i] = c->band_count - 1;
    }
}

struct vt_course_maker *vt_course_begin(const struct vt_sources *sources,
                                        const struct vt_process *p) {
    struct vt_course_maker *m = vt_alloc(1, sizeof *m);
    m->sources = sources;
    m->process = p;
    m->begin = sources->window.since;
    m->end = sources->end;
    if (m->end < m->begin)
        m->end = m->begin;
    bool *leaks = vt_alloc(p->site_count, sizeof *leaks), host = false;
    VT_SCOPED uint32_t *number = vt_alloc(p->site_count, sizeof *number);
    for (uint32_t i = 0; i < p->leak_count; i++)
        for (uint32_t k = 0; k < p->leaks[i].site_count; k++)
            leaks[p->leaks[i].sites[k]] = true;
    for (uint32_t i = 0; i < p->site_count; i++) {
        number[i] = NO_BAND;
        host |= is_host(&p->sites[i]) && p->sites[i].device == VT_DEVICE_HOST;
    }
    m->courses = vt_alloc(p->device_count + 1, sizeof *m->courses);
    for (uint32_t i = 0; i < p->device_count; i++)
        open_course(m, p->devices[i].ordinal & 0xff, leaks, number);
    if (host)
        open_course(m, VT_DEVICE_HOST, leaks, number);
    number_sites(m, number);
    free(leaks);
    return m;
}

/* --- the walk --- */

static void write_down(struct course *c, struct band *band) {
    if (band->seen == c->highs)
        return;
    band->seen = c->highs;
    band->out->bytes[c->slot] = band->bytes > 0 ? (uint64_t)band->bytes : 0;
}

/* Now is the highest moment of the slot. */
static void note_high(struct course *c, uint64_t ticks) {
    c->high_driver = c->driver;
    c->high_blocks = c->blocks;
    c->high_at = ticks;
    c->highs++;
}

/* The slots that divide the run: all but the last, which is the end. */
static uint32_t parts(const struct course *c) {
    return c->out->slot_count - 1;
}

/* The first tick of a slot. */
static uint64_t slot_begin(const struct vt_course_maker *m, const struct course *c, uint32_t slot) {
    if (slot == parts(c))
        return m->end;
    return m->begin + (uint64_t)ceil((double)(m->end - m->begin) / parts(c) * slot);
}

static uint32_t slot_at(const struct vt_course_maker *m, const struct course *c, uint64_t ticks) {
    uint64_t past = ticks > m->begin ? ticks - m->begin : 0;
    double width = (double)(m->end - m->begin) / parts(c);
    double about = width > 0 ? (double)past / width : 0;
    uint32_t slot = about < parts(c) ? (uint32_t)about : parts(c) - 1;
    while (slot && slot_begin(m, c, slot) > ticks) /* by rounding */
        slot--;
    while (slot + 1 < parts(c) && slot_begin(m, c, slot + 1) <= ticks)
        slot++;
    return slot;
}

static void end_slot(const struct vt_course_maker *m, struct course *c) {
    for (uint32_t i = 0; i < c->out->band_count; i++)
        write_down(c, &c->bands[i]);
    c->out->at[c->slot] = vt_clock_ns(m->sources->clock, c->high_at);
    c->out->live_bytes[c->slot] = c->high_driver;
}

/* Goes on to a slot; those in between show what is live. */
static void go_to(const struct vt_course_maker *m, struct course *c, uint32_t slot) {
    while (c->slot < slot) {
        end_slot(m, c);
        c->slot++;
        uint64_t begin = slot_begin(m, c, c->slot);
        note_high(c, begin > c->high_at ? begin : c->high_at);
    }
}

static void add(struct course *c, uint32_t band, int64_t bytes) {
    if (band == NO_BAND)
        return;
    write_down(c, &c->bands[band]);
    c->bands[band].bytes += bytes;
}

static void count(struct vt_course_maker *m, struct course *c, const struct vt_replay_site *site,
                  uint32_t index, int64_t bytes) {
    add(c, m->band_of[index], bytes);
    add(c, m->idle_of[index], -bytes);
    *(site->layer == VT_LAYER_FRAMEWORK ? &c->blocks : &c->driver) += (uint64_t)bytes;
}

static void note_alarm(struct vt_course_maker *m, const struct course *c, uint64_t ticks) {
    if (m->alarm_count == VT_ALARMS) {
        m->alarms_left_out++;
        return;
    }
    *VT_ADD(m->alarms, m->alarm_count, m->alarm_room) =
        (struct vt_alarm){.device = c->out->device,
                          .at = vt_clock_ns(m->sources->clock, ticks),
                          .live_bytes = c->driver,
                          .mark_bytes = c->alarm};
}

void vt_course_change(struct vt_course_maker *m, const struct vt_replay *r,
                      const struct vt_observed *o) {
    const struct vt_replay_site *site = &r->sites[o->site];
    uint16_t number = m->course_of[site->device];
    if (!number)
        return;
    struct course *c = &m->courses[number - 1];
    uint32_t slot = slot_at(m, c, o->ticks);
    if (slot > c->slot)
        go_to(m, c, slot);
    uint64_t before = c->driver;
    count(m, c, site, o->site, o->alloc ? (int64_t)o->bytes : -(int64_t)o->bytes);
    if (before < c->alarm && c->driver >= c->alarm && o->alloc)
        note_alarm(m, c, o->ticks);
    if (c->driver > c->high_driver || (c->driver == c->high_driver && c->blocks > c->high_blocks))
        note_high(c, o->ticks);
}

void vt_course_restart(struct vt_course_maker *m, const struct vt_replay *r, uint64_t ticks) {
    for (size_t i = 0; i < r->site_count; i++) {
        uint16_t number = m->course_of[r->sites[i].device];
        if (number && r->sites[i].live_bytes)
            count(m, &m->courses[number - 1], &r->sites[i], (uint32_t)i,
                  (int64_t)r->sites[i].live_bytes);
    }
    for (uint32_t i = 0; i < m->course_count; i++)
        note_high(&m->courses[i], ticks);
}

/* --- NVML's samples --- */

static uint64_t *unknowns(uint32_t count) {
    uint64_t *row = vt_alloc(count, sizeof *row);
    memset(row, 0xff, count * sizeof *row);
    return row;
}
static_assert(VT_UNKNOWN == UINT64_MAX, "all bits");

/* The highest of each slot. */
static void take_samples(const struct vt_course_maker *m, const struct course *c) {
    const struct vt_replay *r = m->sources->replay;
    struct vt_course *out = c->out;
    uint32_t gpu;
    if (!vt_untracked_gpu(m->sources, out->device, &gpu))
        return;
    for (size_t i = 0; i < r->sample_count; i++) {
        const struct vt_replay_sample *s = &r->samples[i];
        if (s->gpu != gpu || s->ticks < m->begin || s->ticks > m->end)
            continue;
        if (!out->used_bytes) {
            out->used_bytes = unknowns(out->slot_count);
            out->own_bytes = unknowns(out->slot_count);
        }
        uint32_t slot = slot_at(m, c, s->ticks);
        uint64_t *used = &out->used_bytes[slot], *own = &out->own_bytes[slot];
        if (s->used_bytes != VT_SAMPLE_UNKNOWN && (*used == VT_UNKNOWN || s->used_bytes > *used))
            *used = s->used_bytes;
        if (s->own_bytes != VT_SAMPLE_UNKNOWN && (*own == VT_UNKNOWN || s->own_bytes > *own))
            *own = s->own_bytes;
    }
}

void vt_course_end(struct vt_course_maker *m, struct vt_timeline *t) {
    t->courses = vt_alloc(m->course_count, sizeof *t->courses);
    for (uint32_t i = 0; i < m->course_count; i++) {
        struct course *c = &m->courses[i];
        go_to(m, c, parts(c));
        end_slot(m, c);
        if (c->out->device != VT_DEVICE_HOST)
            take_samples(m, c);
        t->courses[t->course_count++] = *c->out;
        free(c->out);
        free(c->bands);
    }
    t->alarms = m->alarms;
    t->alarm_count = m->alarm_count;
    t->alarms_left_out = m->alarms_left_out;
    free(m->courses);
    free(m->band_of);
    free(m->idle_of);
    free(m);
}
