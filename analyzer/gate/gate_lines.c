/* SPDX-License-Identifier: MIT */
/*
 * Failures as reports show them (see gate_lines.h), with their reasons.
 *
 * Readers work line by line: each line has its own bytes and blocks, whatever else its function leaks. A line in
 * several processes counts once. The model groups lines into leaks; a group found in one process holds for all
 * processes.
 */
#include "gate_lines.h"

#include "base/base.h"

#include <string.h>

/* --- lines --- */

/* Findings with the same key are one line. The key includes verdict and call, so all of a line's findings share
 * these. */
static uint64_t line_key(const struct vt_gate_finding *f) {
    if (!f->site)
        return vt_mix(f->device);
    const struct vt_frame *frame = vt_stack_main_frame(f->site->stack);
    const char *api = f->site->api ? f->site->api : "";
    /* addresses of generated code differ between processes */
    uint64_t key = frame && (frame->line || frame->module) ? f->site->stack->line : f->group;
    return vt_hash_bytes(key + (uint64_t)f->site->verdict * 8 + f->site->layer, api, strlen(api));
}

/* A new and a known part together give VT_GATE_LARGER. */
static enum vt_gate_known both_known(enum vt_gate_known a, enum vt_gate_known b) {
    return a == b || !b ? a : !a ? b : VT_GATE_LARGER;
}

static void add_to_line(const struct vt_gate *g, struct vt_gate_line *line,
                        const struct vt_gate_finding *f) {
    line->count++;
    line->known = both_known(line->known, f->known);
    line->one_device &= f->device == g->findings[line->first].device;
    vt_amount_add(&line->amount, f->amount);
    if (!f->site)
        return;
    line->live_count += f->site->live_count;
    line->lost_count += f->site->lost_count;
    line->context_freed_count += f->site->context_freed_count;
    line->context_freed_by =
        line->context_freed_by ? line->context_freed_by : f->site->context_freed_by;
    line->alloc_count += f->site->alloc_count;
}

/* A failure's position: sorted by leak, then by line, the worst of each first. */
struct place {
    uint64_t leak_badness, line_badness;
    uint32_t leak, line;
    uint32_t finding; /* index of the failure; failures are sorted by badness */
};

static int by_place(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    return VT_ORDER({y->leak_badness, x->leak_badness}, {x->leak, y->leak},
                    {y->line_badness, x->line_badness}, {x->line, y->line},
                    {x->finding, y->finding});
}

/* Numbers the lines in the order of their worst failure. */
static void number_lines(const struct vt_gate *g, struct place *places) {
    VT_SCOPED_MAP known = {0};
    uint32_t lines = 0;
    for (uint32_t i = 0; i < g->failures; i++) {
        uint64_t key = line_key(&g->findings[i]);
        if (vt_map_get(&known, key) == VT_MAP_NONE)
            vt_map_put(&known, key, lines++);
        places[i].line = vt_map_get(&known, key);
    }
}

/* Gives each leak the number of its first line. */
static void number_leaks(const struct vt_gate *g, struct place *places) {
    VT_SCOPED uint32_t *sets = vt_sets_make(g->failures);
    VT_SCOPED_MAP by_leak = {0};
    for (uint32_t i = 0; i < g->failures; i++) {
        const struct vt_leak *leak = g->findings[i].leak;
        uint32_t other = leak ? vt_map_get(&by_leak, (uintptr_t)leak) : VT_MAP_NONE;
        if (other != VT_MAP_NONE)
            vt_sets_join(sets, places[i].line, other);
        else if (leak)
            vt_map_put(&by_leak, (uintptr_t)leak, places[i].line);
    }
    for (uint32_t i = 0; i < g->failures; i++)
        places[i].leak = vt_sets_find(sets, places[i].line);
}

/* Sorts the failures by leak and line, and keeps their order within a line. */
static void sort_failures(struct vt_gate *g, struct place *places) {
    VT_SCOPED uint64_t *of_line = vt_alloc(g->failures, sizeof *of_line);
    VT_SCOPED uint64_t *of_leak = vt_alloc(g->failures, sizeof *of_leak);
    VT_SCOPED struct vt_gate_finding *failures = vt_alloc(g->failures, sizeof *failures);
    for (uint32_t i = 0; i < g->failures; i++) {
        failures[i] = g->findings[i];
        of_line[places[i].line] += failures[i].badness;
        of_leak[places[i].leak] += failures[i].badness;
    }
    for (uint32_t i = 0; i < g->failures; i++) {
        places[i].finding = i;
        places[i].line_badness = of_line[places[i].line];
        places[i].leak_badness = of_leak[places[i].leak];
    }
    vt_sort(places, g->failures, sizeof *places, by_place);
    for (uint32_t i = 0; i < g->failures; i++)
        g->findings[i] = failures[places[i].finding];
}

/* Makes lines and leaks of the sorted failures. */
static void make_lines(struct vt_gate *g, const struct place *places) {
    VT_SCOPED uint32_t *line_of = vt_alloc(g->model->process_count, sizeof *line_of);
    VT_SCOPED uint32_t *leak_of = vt_alloc(g->model->process_count, sizeof *leak_of);
    uint32_t line_room = 0, leak_room = 0;
    for (uint32_t i = 0; i < g->failures; i++) {
        struct vt_gate_finding *f = &g->findings[i];
        if (!i || places[i].leak != places[i - 1].leak) {
            VT_GROW(g->leaks, g->leak_count, leak_room);
            g->leaks[g->leak_count++] = (struct vt_gate_leak){.first = g->line_count};
        }
        struct vt_gate_leak *leak = &g->leaks[g->leak_count - 1];
        if (!i || places[i].line != places[i - 1].line) {
            VT_GROW(g->lines, g->line_count, line_room);
            g->lines[g->line_count++] =
                (struct vt_gate_line){.first = i, .leak = g->leak_count - 1, .one_device = true};
            leak->count++;
        }
        struct vt_gate_line *line = &g->lines[g->line_count - 1];
        f->line = g->line_count - 1;
        add_to_line(g, line, f);
        vt_amount_add(&leak->amount, f->amount);
        leak->known = both_known(leak->known, f->known);
        line->processes += line_of[f->process] != g->line_count;
        leak->processes += leak_of[f->process] != g->leak_count;
        line_of[f->process] = g->line_count;
        leak_of[f->process] = g->leak_count;
    }
}

static void count_sites(struct vt_gate *g) {
    for (uint32_t i = 0; i < g->line_count; i++) {
        struct vt_gate_line *line = &g->lines[i];
        VT_SCOPED_MAP sites = {0};
        for (uint32_t j = line->first; j < line->first + line->count; j++)
            if (g->findings[j].site)
                vt_map_put(&sites, g->findings[j].site->id, j);
        line->sites = (uint32_t)sites.used;
    }
}

void vt_gate_lines_make(struct vt_gate *g) {
    VT_SCOPED struct place *places = vt_alloc(g->failures, sizeof *places);
    number_lines(g, places);
    number_leaks(g, places);
    sort_failures(g, places);
    make_lines(g, places);
    count_sites(g);
}

/* --- why --- */

/* "3 of 4 allocations were never freed, 2 released with their context (cuCtxDestroy)" */
static void add_counts(const struct vt_gate_line *line, const char *from, struct vt_string *why) {
    if (!line->live_count && line->amount.freed) {
        vt_string_format(why, "%s of %s allocations%s were %s", VT_NUMBER(line->amount.freed),
                         VT_NUMBER(line->alloc_count), from, vt_amount_freed(line->amount));
        return;
    }
    vt_string_format(why, "%s of %s allocation%s%s %s %s", VT_NUMBER(line->live_count),
                     VT_NUMBER(line->alloc_count), vt_plural(line->alloc_count), from,
                     line->live_count == 1 ? "was" : "were",
                     line->context_freed_count ? "never freed" : "still live at the end");
    if (line->context_freed_count)
        vt_string_format(why, ", %s released with %s context (%s)",
                         VT_NUMBER(line->context_freed_count),
                         line->context_freed_count == 1 ? "its" : "their",
                         line->context_freed_by ? line->context_freed_by : "an unknown call");
}

/* Writes the evidence without times, rates and other figures that vary from run to run. */
static void stable_why(const struct vt_gate_line *line, const struct vt_site *worst,
                       const char *from, struct vt_string *why) {
    enum vt_verdict verdict = worst->verdict;
    add_counts(line, from, why);
    if (line->amount.freed && line->live_count)
        vt_string_format(why, ", %s %s %s", VT_NUMBER(line->amount.freed),
                         line->amount.freed == 1 ? "was" : "were", vt_amount_freed(line->amount));
    if (verdict == VT_VERDICT_LOST)
        vt_string_add(why, line->live_count == 1 ? ", and no pointer to it is left"
                                                 : ", and no pointer to some of them is left");
    if (worst->tested && worst->tested->fails)
        vt_string_format(why, "; kept by %s", worst->tested->test);
    else if (verdict == VT_VERDICT_GROWING)
        vt_string_add(why, "; live memory rose over the run and would go on rising");
    if (worst->bound)
        vt_string_add(why, "; its owner holds only so many entries");
}

/* For a line with several failures. */
static void common_why(const struct vt_gate_line *line, const struct vt_site *worst,
                       const char *from, struct vt_string *why) {
    uint64_t live = line->live_count - line->context_freed_count;
    if (worst->verdict == VT_VERDICT_LOST)
        vt_string_format(why, "no pointer to %s%s %s live allocations%s was left in memory",
                         line->lost_count == live ? "any" : VT_NUMBER(line->lost_count),
                         line->lost_count == live ? " of the" : " of", VT_NUMBER(live), from);
    else
        add_counts(line, from, why);
    if ((worst->verdict == VT_VERDICT_GROWING || worst->bound) && worst->why)
        vt_string_format(why, "; the largest: %s", worst->why);
}

/* For a device over its budget. The same device of several processes makes one line. */
static void peak_why(const struct vt_gate *g, const struct vt_gate_line *line, bool stable,
                     struct vt_string *why) {
    const struct vt_gate_finding *f = &g->findings[line->first];
    const char *most = VT_BYTES(g->options->max_peak);
    if (stable)
        vt_string_format(why, "its peak is over --max-peak %s", most);
    else
        vt_string_format(why, "its peak of %s is over --max-peak %s", VT_BYTES(f->amount.bytes),
                         most);
    if (line->count > 1)
        vt_string_format(why, "; the same in %u more process%s", line->count - 1,
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
        (f->of_group.bytes == f->amount.bytes || f->of_group.bytes == line->amount.bytes))
        vt_string_format(&why, "; grown beyond the %s that the baseline accepts",
                         VT_BYTES(f->accepted_bytes));
    else if (f->accepted_bytes != VT_UNKNOWN)
        vt_string_format(&why, "; its function's calls hold %s together; the baseline accepts %s",
                         VT_BYTES(f->of_group.bytes), VT_BYTES(f->accepted_bytes));
    if (f->earlier_bytes != VT_UNKNOWN)
        vt_string_format(&why, "; earlier runs held at most %s", VT_BYTES(f->earlier_bytes));
    vt_string_free(&from);
    return why.text;
}

struct vt_gate_line vt_gate_line_of(const struct vt_gate *g, const struct vt_gate_finding *f) {
    struct vt_gate_line line = {
        .first = (uint32_t)(f - g->findings), .sites = 1, .processes = 1, .one_device = true};
    add_to_line(g, &line, f);
    return line;
}
