/* SPDX-License-Identifier: MIT */
/*
 * Failures as a reader sees them (see gate_lines.h), and why they fail.
 *
 * A line is what a reader goes to: each is named, with its own bytes and blocks, whatever else its
 * function loses. The same line in several processes is one. Which lines are one leak, the model
 * says; where it says so for one process, it is so for all.
 */
#include "gate_lines.h"

#include <stdlib.h>
#include <string.h>

/* --- lines --- */

/* Findings with the same key are one line. Verdict and call are in it, so that what a report says
 * holds for all of them. */
static uint64_t line_key(const struct vt_gate_finding *f) {
    if (!f->site)
        return vt_mix(f->device);
    const struct vt_frame *frame = vt_stack_main_frame(f->site->stack);
    const char *api = f->site->api ? f->site->api : "";
    /* addresses of generated code differ between processes */
    uint64_t key =
        frame && (frame->line || frame->module) ? vt_stack_line_key(f->site->stack) : f->group;
    return vt_hash_bytes(key + (uint64_t)f->site->verdict * 8 + f->site->layer, api, strlen(api));
}

static uint64_t badness(const struct vt_gate *g, const struct vt_gate_finding *f) {
    return f->site ? f->amount.bytes : f->bytes - g->options->max_peak;
}

static void add_to_line(const struct vt_gate *g, struct vt_gate_line *line,
                        const struct vt_gate_finding *f) {
    line->count++;
    line->one_device &= f->device == g->findings[line->first].device;
    vt_amount_add(&line->amount, f->amount);
    line->badness += badness(g, f);
    if (!f->site)
        return;
    line->live_count += f->site->live_count;
    line->lost_count += f->site->lost_count;
    line->went_count += f->site->went_count;
    line->went_by = line->went_by ? line->went_by : f->site->went_by;
    line->alloc_count += f->site->alloc_count;
}

/* Numbers the lines in the order of their worst finding, which is in `first` until the sort. */
static void find_lines(struct vt_gate *g) {
    VT_SCOPED_MAP known = {0};
    uint32_t room = 0;
    for (uint32_t i = 0; i < g->failures; i++) {
        struct vt_gate_finding *f = &g->findings[i];
        uint64_t key = line_key(f);
        uint32_t at = vt_map_get(&known, key);
        if (at == VT_MAP_NONE) {
            at = g->line_count;
            vt_map_put(&known, key, at);
            VT_GROW(g->lines, g->line_count, room);
            g->lines[g->line_count++] = (struct vt_gate_line){.first = i, .one_device = true};
        }
        f->line = at;
        add_to_line(g, &g->lines[at], f);
    }
}

/* --- leaks --- */

static uint32_t root_of(uint32_t *parent, uint32_t at) {
    while (parent[at] != at)
        at = parent[at] = parent[parent[at]];
    return at;
}

/* Joins the lines of which the model made one leak; numbers the leaks in the order of their worst
 * finding. */
static void find_leaks(struct vt_gate *g) {
    uint32_t *parent = vt_alloc(g->line_count, sizeof *parent), room = 0;
    VT_SCOPED_MAP by_leak = {0}, by_root = {0};
    for (uint32_t i = 0; i < g->line_count; i++)
        parent[i] = i;
    for (uint32_t i = 0; i < g->failures; i++) {
        const struct vt_gate_finding *f = &g->findings[i];
        uint64_t key = (uint64_t)(uintptr_t)f->leak;
        uint32_t other = f->leak ? vt_map_get(&by_leak, key) : VT_MAP_NONE;
        if (other != VT_MAP_NONE)
            parent[root_of(parent, f->line)] = root_of(parent, other);
        else if (f->leak)
            vt_map_put(&by_leak, key, f->line);
    }
    for (uint32_t i = 0; i < g->line_count; i++) {
        uint32_t root = root_of(parent, i), at = vt_map_get(&by_root, root);
        if (at == VT_MAP_NONE) {
            at = g->leak_count;
            vt_map_put(&by_root, root, at);
            VT_GROW(g->leaks, g->leak_count, room);
            g->leaks[g->leak_count++] = (struct vt_gate_leak){0};
        }
        g->lines[i].leak = at;
        g->leaks[at].count++;
        g->leaks[at].badness += g->lines[i].badness;
        vt_amount_add(&g->leaks[at].amount, g->lines[i].amount);
    }
    free(parent);
}

/* --- order --- */

static const struct vt_gate *sorted; /* for qsort, which passes no context */

static int by_leak(const void *a, const void *b) {
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    return VT_ORDER({sorted->leaks[j].badness, sorted->leaks[i].badness}, {i, j});
}

/* By leak, in the final order, then by badness. */
static int by_line(const void *a, const void *b) {
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct vt_gate_line *x = &sorted->lines[i], *y = &sorted->lines[j];
    return VT_ORDER({x->leak, y->leak}, {y->badness, x->badness}, {i, j});
}

/* The numbers 0 to count - 1, sorted. Free it. */
static uint32_t *order_of(uint32_t count, int (*compare)(const void *, const void *)) {
    uint32_t *order = vt_alloc(count, sizeof *order);
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    vt_sort(order, count, sizeof *order, compare);
    return order;
}

static void sort_leaks(struct vt_gate *g) {
    struct vt_gate_leak *leaks = vt_alloc(g->leak_count, sizeof *leaks);
    VT_SCOPED uint32_t *order = order_of(g->leak_count, by_leak);
    uint32_t *place = vt_alloc(g->leak_count, sizeof *place), lines = 0;
    for (uint32_t i = 0; i < g->leak_count; i++) {
        leaks[i] = g->leaks[order[i]];
        leaks[i].first = lines;
        lines += leaks[i].count;
        place[order[i]] = i;
    }
    for (uint32_t i = 0; i < g->line_count; i++)
        g->lines[i].leak = place[g->lines[i].leak];
    free(g->leaks);
    g->leaks = leaks;
    free(place);
}

static void sort_lines(struct vt_gate *g) {
    struct vt_gate_line *lines = vt_alloc(g->line_count, sizeof *lines);
    VT_SCOPED uint32_t *order = order_of(g->line_count, by_line);
    uint32_t *place = vt_alloc(g->line_count, sizeof *place), findings = 0;
    for (uint32_t i = 0; i < g->line_count; i++) {
        lines[i] = g->lines[order[i]];
        lines[i].first = findings;
        findings += lines[i].count;
        place[order[i]] = i;
    }
    for (uint32_t i = 0; i < g->failures; i++)
        g->findings[i].line = place[g->findings[i].line];
    free(g->lines);
    g->lines = lines;
    free(place);
}

/* Sorts the failures by line, and keeps their order within a line. */
static void sort_failures(struct vt_gate *g) {
    VT_SCOPED struct vt_gate_finding *failures = vt_alloc(g->failures, sizeof *failures);
    VT_SCOPED uint32_t *next = vt_alloc(g->line_count, sizeof *next);
    for (uint32_t i = 0; i < g->failures; i++) {
        uint32_t line = g->findings[i].line;
        failures[g->lines[line].first + next[line]++] = g->findings[i];
    }
    if (g->failures)
        memcpy(g->findings, failures, g->failures * sizeof *failures);
}

/* Counts the different sites and processes of each line and leak. */
static void count_different(struct vt_gate *g) {
    VT_SCOPED uint32_t *line_of = vt_alloc(g->model->process_count, sizeof *line_of);
    VT_SCOPED uint32_t *leak_of = vt_alloc(g->model->process_count, sizeof *leak_of);
    for (uint32_t i = 0; i < g->line_count; i++) {
        struct vt_gate_line *line = &g->lines[i];
        VT_SCOPED_MAP sites = {0};
        for (uint32_t j = line->first; j < line->first + line->count; j++) {
            const struct vt_gate_finding *f = &g->findings[j];
            line->processes += line_of[f->process] != i + 1;
            g->leaks[line->leak].processes += leak_of[f->process] != line->leak + 1;
            line_of[f->process] = i + 1;
            leak_of[f->process] = line->leak + 1;
            if (f->site && vt_map_get(&sites, f->site->id) == VT_MAP_NONE) {
                vt_map_put(&sites, f->site->id, j);
                line->sites++;
            }
        }
    }
}

void vt_gate_lines_make(struct vt_gate *g) {
    find_lines(g);
    find_leaks(g);
    sorted = g;
    sort_leaks(g);
    sort_lines(g);
    sort_failures(g);
    count_different(g);
}

/* --- why --- */

/* "3 of 4 allocations were never freed, 2 went with their context (cuCtxDestroy)" */
static void say_counts(const struct vt_gate_line *line, const char *from, struct vt_string *why) {
    vt_string_format(why, "%s of %s allocation%s%s %s %s", VT_NUMBER(line->live_count),
                     VT_NUMBER(line->alloc_count), vt_plural(line->alloc_count), from,
                     line->live_count == 1 ? "was" : "were",
                     line->went_count ? "never freed" : "still live at the end");
    if (line->went_count)
        vt_string_format(why, ", %s went with %s context (%s)", VT_NUMBER(line->went_count),
                         line->went_count == 1 ? "its" : "their",
                         line->went_by ? line->went_by : "an unknown call");
}

/* The evidence without times, rates, and other figures that vary from run to run. */
static void stable_why(const struct vt_gate_line *line, const struct vt_site *worst,
                       const char *from, struct vt_string *why) {
    enum vt_verdict verdict = worst->verdict;
    say_counts(line, from, why);
    if (line->amount.freed)
        vt_string_format(why, ", %s %s freed only at exit", VT_NUMBER(line->amount.freed),
                         line->amount.freed == 1 ? "was" : "were");
    if (verdict == VT_VERDICT_LOST)
        vt_string_add(why, ", and some have no pointer left to them");
    if (worst->tested && worst->tested->fails)
        vt_string_format(why, "; kept by %s", worst->tested->test);
    else if (verdict == VT_VERDICT_GROWING)
        vt_string_add(why, "; live memory rose over the run and would go on rising");
}

/* For a line with several failures. */
static void common_why(const struct vt_gate_line *line, const struct vt_site *worst,
                       const char *from, struct vt_string *why) {
    if (worst->verdict == VT_VERDICT_LOST)
        vt_string_format(why, "no pointer to %s of %s live allocations%s was left in memory",
                         VT_NUMBER(line->lost_count),
                         VT_NUMBER(line->live_count - line->went_count), from);
    else
        say_counts(line, from, why);
    if (worst->verdict == VT_VERDICT_GROWING && worst->why)
        vt_string_format(why, "; of the largest: %s", worst->why);
}

/* For a device over its budget; the same device of several processes is one line. */
static void peak_why(const struct vt_gate *g, const struct vt_gate_line *line, bool stable,
                     struct vt_string *why) {
    const struct vt_gate_finding *f = &g->findings[line->first];
    const char *most = VT_BYTES(g->options->max_peak);
    if (stable)
        vt_string_format(why, "its peak is over --max-peak %s", most);
    else
        vt_string_format(why, "its peak of %s is over --max-peak %s", VT_BYTES(f->bytes), most);
    if (line->count > 1)
        vt_string_format(why, "; so %s of %u more process%s",
                         line->count == 2 ? "is that" : "are those", line->count - 1,
                         line->count == 2 ? "" : "es");
}

char *vt_gate_why(const struct vt_gate *g, const struct vt_gate_line *line, bool stable) {
    const struct vt_gate_finding *f = &g->findings[line->first];
    struct vt_string why = {0}, from = {0};
    if (!f->site) {
        peak_why(g, line, stable, &why);
        return why.text;
    }
    vt_string_add(&from, "");
    if (line->sites > 1)
        vt_string_format(&from, ", from %u call sites", line->sites);
    if (line->processes > 1)
        vt_string_format(&from, "%s in %u processes", line->sites > 1 ? "" : ",", line->processes);
    if (from.length)
        vt_string_add(&from, ",");
    if (stable)
        stable_why(line, f->site, from.text, &why);
    else if (line->count > 1)
        common_why(line, f->site, from.text, &why);
    else
        vt_string_add(&why, f->site->why ? f->site->why : vt_verdict_names[f->site->verdict]);
    if (f->accepted_bytes != VT_UNKNOWN &&
        (f->group_bytes == f->bytes || f->group_bytes == line->amount.bytes))
        vt_string_format(&why, "; grown beyond the %s that the baseline accepts",
                         VT_BYTES(f->accepted_bytes));
    else if (f->accepted_bytes != VT_UNKNOWN)
        vt_string_format(
            &why,
            "; its function holds %s by such calls, more than the %s that the baseline "
            "accepts",
            VT_BYTES(f->group_bytes), VT_BYTES(f->accepted_bytes));
    vt_string_free(&from);
    return why.text;
}

struct vt_gate_line vt_gate_line_of(const struct vt_gate *g, const struct vt_gate_finding *f) {
    struct vt_gate_line line = {
        .first = (uint32_t)(f - g->findings), .sites = 1, .processes = 1, .one_device = true};
    add_to_line(g, &line, f);
    return line;
}
