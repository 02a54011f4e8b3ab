/* SPDX-License-Identifier: MIT */
/*
 * Phases (see phases.h). build.c uses them before the replay for the window and for the history's
 * iterations, and after it for the list.
 */
#include "phases.h"
#include "pytest_marks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- iterations --- */

/* Below FEW a trend may be chance; from ENOUGH on the outermost name is taken. */
enum { FEW = 5, ENOUGH = 8 };

/* All phases of one name, on one thread, at one depth. */
struct kind {
    uint32_t name, domain, tid, depth, count;
};

struct thread {
    uint32_t tid, open_count, open_room;
    uint64_t *open; /* the ends of its open phases, the outermost first */
    uint64_t events;
};

/* Finds or adds the thread. */
static struct thread *thread_of(struct thread **threads, uint32_t *count, uint32_t *room,
                                struct vt_map *by_tid, uint32_t tid) {
    uint32_t index = vt_map_add(by_tid, tid, *count);
    if (index == *count)
        *VT_ADD(*threads, *count, *room) = (struct thread){.tid = tid};
    return &(*threads)[index];
}

/* How many of the thread's open phases enclose `phase`, which is then added to them. */
static uint32_t depth_of(struct thread *t, const struct vt_log_phase *phase) {
    while (t->open_count && t->open[t->open_count - 1] <= phase->began)
        t->open_count--;
    uint32_t depth = t->open_count;
    if (phase->range && phase->of_thread) {
        *VT_ADD(t->open, t->open_count, t->open_room) = phase->ended;
    }
    return depth;
}

static uint64_t kind_key(const struct kind *k) {
    return vt_mix(vt_mix((uint64_t)k->name << 32 | k->domain) + ((uint64_t)k->tid << 8 | k->depth));
}

/* Whether `a` is a better iteration than `b`. */
static bool better(const struct kind *a, uint64_t a_events, const struct kind *b,
                   uint64_t b_events) {
    bool a_enough = a->count >= ENOUGH, b_enough = b->count >= ENOUGH;
    if (a_enough != b_enough)
        return a_enough;
    if (a->tid != b->tid && a_events != b_events)
        return a_events > b_events;
    if (a->depth != b->depth)
        return a->depth < b->depth;
    if (a->count != b->count)
        return a->count > b->count;
    return a->name < b->name;
}

/* Workers that share the iterations use the same name at the same depth. */
static bool same_but_thread(const struct kind *a, const struct kind *b) {
    return a->name == b->name && a->domain == b->domain && a->depth == b->depth;
}

void vt_phases_iterations(const struct vt_log *log, struct vt_iterations *out) {
    VT_SCOPED_MAP by_tid = {0}, by_kind = {0};
    struct thread *threads = NULL;
    VT_SCOPED struct kind *kinds = NULL;
    uint32_t thread_count = 0, thread_room = 0, kind_count = 0, kind_room = 0;
    VT_SCOPED uint32_t *kind_of = vt_alloc(log->phase_count, sizeof *kind_of);
    *out = (struct vt_iterations){0};
    for (size_t i = 0; i < log->chunk_count; i++)
        thread_of(&threads, &thread_count, &thread_room, &by_tid, log->chunks[i].tid)->events +=
            log->chunks[i].events;
    for (size_t i = 0; i < log->phase_count; i++) {
        const struct vt_log_phase *phase = &log->phases[i];
        struct kind k = {.name = phase->name, .domain = phase->domain, .tid = phase->tid};
        k.depth =
            depth_of(thread_of(&threads, &thread_count, &thread_room, &by_tid, phase->tid), phase);
        kind_of[i] = vt_map_add(&by_kind, kind_key(&k), kind_count);
        if (kind_of[i] == kind_count)
            *VT_ADD(kinds, kind_count, kind_room) = k;
        kinds[kind_of[i]].count++;
    }
    uint32_t best = VT_MAP_NONE;
    uint64_t best_events = 0;
    for (uint32_t i = 0; i < kind_count; i++) {
        if (kinds[i].count < FEW || kinds[i].name == VT_MAP_NONE ||
            vt_pytest_is(log->names[kinds[i].name]))
            continue;
        uint64_t events = threads[vt_map_get(&by_tid, kinds[i].tid)].events;
        if (best == VT_MAP_NONE || better(&kinds[i], events, &kinds[best], best_events)) {
            best = i;
            best_events = events;
        }
    }
    if (best != VT_MAP_NONE) {
        out->name = kinds[best].name;
        uint64_t count = 0;
        for (uint32_t i = 0; i < kind_count; i++)
            count += same_but_thread(&kinds[i], &kinds[best]) ? kinds[i].count : 0;
        out->begins = vt_alloc(count, sizeof *out->begins);
        out->shared = count > kinds[best].count;
        for (size_t i = 0; i < log->phase_count; i++) {
            const struct vt_log_phase *phase = &log->phases[i];
            if (!same_but_thread(&kinds[kind_of[i]], &kinds[best]))
                continue;
            out->begins[out->count++] = phase->began;
            /* a mark lasts until the next one; the last has no known end */
            uint64_t end = phase->range ? phase->ended : VT_TICKS_MASK;
            if (end > out->end)
                out->end = end;
        }
        vt_sort_words(out->begins, out->count);
    }
    for (uint32_t i = 0; i < thread_count; i++)
        free(threads[i].open);
    free(threads);
}

void vt_phases_iterations_free(struct vt_iterations *iterations) {
    free(iterations->begins);
    *iterations = (struct vt_iterations){0};
}

/* --- by name --- */

/* Lists the names that do exist, for a user who mistyped: each once, as many as fit a line. */
static void say_names(const struct vt_log *log, struct vt_string *message) {
    VT_SCOPED bool *said = vt_alloc(log->name_count, sizeof *said);
    unsigned count = 0;
    for (size_t i = 0; i < log->phase_count; i++) {
        uint32_t name = log->phases[i].name;
        if (name == VT_MAP_NONE || said[name] || vt_pytest_is(log->names[name]))
            continue;
        said[name] = true;
        if (count < 8)
            vt_string_format(message, "%s%s", count ? ", " : "; it has: ", log->names[name]);
        count++;
    }
    if (count > 8)
        vt_string_format(message, " and %u more", count - 8);
    if (!count)
        vt_string_add(message, "; it has none");
}

int vt_phases_find(const struct vt_log *log, const char *option, const char *text,
                   struct vt_window *span, size_t *count, struct vt_string *message) {
    const char *hash = strrchr(text, '#');
    char *end = NULL;
    unsigned long number =
        hash && hash[1] >= '0' && hash[1] <= '9' ? strtoul(hash + 1, &end, 10) : 0;
    if (end && *end)
        number = 0;
    size_t length = number ? (size_t)(hash - text) : strlen(text);
    *count = 0;
    *span = (struct vt_window){VT_TICKS_MASK, 0};
    for (size_t i = 0; i < log->phase_count; i++) {
        const struct vt_log_phase *phase = &log->phases[i];
        const char *name = phase->name == VT_MAP_NONE ? "" : log->names[phase->name];
        if (strlen(name) != length || memcmp(name, text, length))
            continue;
        ++*count;
        if (number && *count != number)
            continue;
        if (phase->began < span->since)
            span->since = phase->began;
        if (phase->ended > span->until)
            span->until = phase->ended;
    }
    if (span->since != VT_TICKS_MASK)
        return 0;
    if (*count)
        vt_string_format(message, "%s %s: this log has %zu phases of that name, counted from 1",
                         option, text, *count);
    else {
        vt_string_format(message,
                         "%s %s: expected %sa phase that the program named; no phase \"%.*s\" in "
                         "this log",
                         option, text, !strcmp(option, "--phase") ? "" : "90s, 250ms, 80% or ",
                         (int)length, text);
        say_names(log, message);
    }
    return -EINVAL;
}

/* --- the list --- */

void vt_phases_take(const struct vt_log *log, const struct vt_replay *replay, struct vt_clock clock,
                    struct vt_window window, struct vt_process *p) {
    p->phase_names = vt_alloc(log->name_count, sizeof *p->phase_names);
    p->phase_name_count = (uint32_t)log->name_count;
    for (size_t i = 0; i < log->name_count; i++)
        p->phase_names[i] = vt_printable(vt_strdup(log->names[i]));
    p->phases = vt_alloc(log->phase_count, sizeof *p->phases);
    for (size_t i = 0; i < log->phase_count; i++) {
        const struct vt_log_phase *from = &log->phases[i];
        const struct vt_replay_phase *books = &replay->phases[i];
        if (from->began > window.until || from->ended < window.since ||
            (from->name != VT_MAP_NONE && vt_pytest_is(log->names[from->name])))
            continue;
        bool mark = !from->range, open = from->ended == VT_TICKS_MASK || from->ended > window.until;
        p->phases[p->phase_count++] = (struct vt_phase){
            .name = from->name == VT_MAP_NONE ? NULL : p->phase_names[from->name],
            .domain = from->domain == VT_MAP_NONE ? NULL : p->phase_names[from->domain],
            .start = vt_clock_ns(clock, from->began),
            .end = open ? VT_UNKNOWN : vt_clock_ns(clock, from->ended),
            .live_at_start = mark ? VT_UNKNOWN : books->live_at_start,
            .live_at_end = mark || open ? VT_UNKNOWN : books->live_at_end,
            .peak_bytes = mark ? VT_UNKNOWN : books->peak_bytes,
            .thread = from->tid,
            .mark = mark,
        };
    }
}
