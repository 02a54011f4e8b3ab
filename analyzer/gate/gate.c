/* SPDX-License-Identifier: MIT */
/*
 * The leak gate (see gate.h): what fails. check_options.c derives the exit status.
 */
#include "gate.h"
#include "gate_lines.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

/* The verdicts that fail; NULL: the default. */
static const bool *chosen(const struct vt_gate *g) {
    return g->options->chosen ? g->options->fails : NULL;
}

/* --- findings --- */

static struct vt_gate_finding *append_finding(struct vt_gate *g, uint32_t *room) {
    VT_GROW(g->findings, g->count, *room);
    g->findings[g->count] = (struct vt_gate_finding){
        .rule = -1, .accepted_bytes = VT_UNKNOWN, .earlier_bytes = VT_UNKNOWN};
    return &g->findings[g->count++];
}

/* Whether a device's peak is unknown only because events were lost. */
static bool peak_is_open(const struct vt_gate_options *o, const struct vt_process *p) {
    for (uint32_t i = 0; i < p->device_count; i++)
        if (p->devices[i].peak_bytes > o->max_peak && p->devices[i].sure_peak_bytes <= o->max_peak)
            return true;
    return false;
}

/* How many lost events leave the result open for a process without failures: all of them if its live memory at the end
 * is unknown, otherwise those that could have shown growth or a peak. */
static uint64_t open_events(const struct vt_gate *g, const struct vt_process *p) {
    if (p->quality.missing_live)
        return p->quality.missing_live;
    if (peak_is_open(g->options, p))
        return p->quality.missing;
    return p->python || g->options->max_peak != VT_UNKNOWN ? p->quality.missing_growth : 0;
}

static void find_leaks(struct vt_gate *g, uint32_t process, uint32_t *room) {
    const struct vt_process *p = &g->model->processes[process];
    VT_SCOPED const struct vt_leak **leaks = vt_process_leaks_by_site(p, true);
    for (uint32_t i = 0; i < p->site_count; i++) {
        const struct vt_site *site = &p->sites[i];
        if (!vt_site_fails(p, site, chosen(g)))
            continue;
        struct vt_gate_finding *f = append_finding(g, room);
        f->process = process;
        f->device = site->device;
        f->site = site;
        f->leak = leaks[i];
        f->amount = vt_amount_of_site(site, f->leak);
        f->badness = f->amount.bytes;
        f->group = vt_stack_key_of(site);
        if (g->options->suppressions)
            f->rule = vt_suppress_find(g->options->suppressions, site->stack, site->verdict);
        if (f->rule >= 0)
            f->outcome = VT_GATE_SUPPRESSED;
    }
}

/* Counts suspects and inconclusive sites, unless they fail or are suppressed. */
static void find_open(struct vt_gate *g, uint32_t process) {
    const struct vt_process *p = &g->model->processes[process];
    struct vt_gate_process *to = &g->processes[process];
    for (uint32_t i = 0; i < p->site_count; i++) {
        const struct vt_site *site = &p->sites[i];
        bool suspect = site->verdict == VT_VERDICT_SUSPECT;
        if (!site->inconclusive || site->library_own || vt_site_may_fail(p, site, chosen(g)))
            continue;
        int64_t rule = g->options->suppressions
                           ? vt_suppress_find(g->options->suppressions, site->stack, site->verdict)
                           : -1;
        if (rule >= 0) {
            g->options->suppressions->rules[rule].sites++;
            continue;
        }
        struct vt_gate_open_sites *open = suspect ? &to->suspects : &to->inconclusive;
        vt_inconclusive_add(&open->sum, site);
        vt_inconclusive_add(suspect ? &g->suspects : &g->inconclusive, site);
        if (!open->largest || site->held_bytes > open->largest->held_bytes)
            open->largest = site;
    }
}

static void find_peaks(struct vt_gate *g, uint32_t process, uint32_t *room) {
    const struct vt_process *p = &g->model->processes[process];
    for (uint32_t i = 0; i < p->device_count; i++) {
        const struct vt_device *d = &p->devices[i];
        if (d->sure_peak_bytes <= g->options->max_peak)
            continue;
        struct vt_gate_finding *f = append_finding(g, room);
        f->process = process;
        f->device = d->ordinal;
        f->amount.bytes = d->sure_peak_bytes;
        f->badness = f->amount.bytes - g->options->max_peak;
        f->group = d->ordinal;
    }
}

/* Fills of_group of one process's findings, from `start` on. */
static void sum_groups(struct vt_gate *g, uint32_t start) {
    VT_SCOPED_MAP first = {0};
    for (uint32_t i = start; i < g->count; i++) {
        struct vt_gate_finding *f = &g->findings[i];
        if (!f->site || f->rule >= 0)
            continue;
        if (vt_map_get(&first, f->group) == VT_MAP_NONE)
            vt_map_put(&first, f->group, i);
        vt_amount_add(&g->findings[vt_map_get(&first, f->group)].of_group, f->amount);
    }
    for (uint32_t i = start; i < g->count; i++) {
        struct vt_gate_finding *f = &g->findings[i];
        if (!f->site || f->rule >= 0)
            continue;
        f->of_group = g->findings[vt_map_get(&first, f->group)].of_group;
    }
}

/* Compares one process's findings, from `start` on, with the baseline. Sites with the same key are summed, because
 * the baseline has no lines or devices. */
static void apply_baseline(struct vt_gate *g, uint32_t start) {
    for (uint32_t i = start; g->options->baseline && i < g->count; i++) {
        struct vt_gate_finding *f = &g->findings[i];
        struct vt_baseline_entry *e = f->site && f->outcome == VT_GATE_FAILS
                                          ? vt_baseline_find(g->options->baseline, f->group)
                                          : NULL;
        if (f->site && f->outcome == VT_GATE_FAILS)
            f->known = !e                              ? VT_GATE_NEW
                       : f->of_group.bytes <= e->bytes ? VT_GATE_KNOWN
                                                       : VT_GATE_LARGER;
        if (!e)
            continue;
        e->seen = true;
        if (f->known == VT_GATE_LARGER)
            f->accepted_bytes = e->bytes;
        else
            f->outcome = VT_GATE_ACCEPTED;
    }
}

/* Notes whether earlier runs had the leaks that are not in the baseline, which fail in either case. */
static void apply_earlier(struct vt_gate *g, uint32_t start) {
    const struct vt_earlier *earlier = g->options->earlier;
    double more = g->options->max_increase > 0 ? g->options->max_increase : 0;
    for (uint32_t i = start; earlier && earlier->runs && !earlier->merged_only && i < g->count;
         i++) {
        struct vt_gate_finding *f = &g->findings[i];
        if (!f->site || f->outcome != VT_GATE_FAILS || f->accepted_bytes != VT_UNKNOWN)
            continue;
        const struct vt_baseline_entry *e = vt_baseline_find(&earlier->leaks, f->group);
        f->known = !e                                                           ? VT_GATE_NEW
                   : (double)f->of_group.bytes <= (double)e->bytes * (1 + more) ? VT_GATE_KNOWN
                                                                                : VT_GATE_LARGER;
        if (f->known == VT_GATE_LARGER)
            f->earlier_bytes = e->bytes;
    }
}

/* Applies --max-leaked: either all failures pass, or none does. */
static void apply_tolerance(struct vt_gate *g) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < g->count; i++)
        if (g->findings[i].site && g->findings[i].outcome == VT_GATE_FAILS)
            bytes += g->findings[i].amount.bytes;
    for (uint32_t i = 0; i < g->count; i++)
        if (g->findings[i].site && g->findings[i].outcome == VT_GATE_FAILS && bytes &&
            bytes <= g->options->max_leaked)
            g->findings[i].outcome = VT_GATE_TOLERATED;
}

/* --- order --- */

static int compare_commands(const struct vt_process *a, const struct vt_process *b) {
    for (uint32_t i = 0; i < a->command_count && i < b->command_count; i++) {
        int order = strcmp(a->command[i], b->command[i]);
        if (order)
            return order;
    }
    return (a->command_count > b->command_count) - (a->command_count < b->command_count);
}

static const struct vt_gate *sorted; /* for qsort, which passes no context */

static uint32_t rank_key(const struct vt_process *p) {
    return p->rank < 0 ? UINT32_MAX : (uint32_t)p->rank;
}

static int by_process(const void *a, const void *b) {
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct vt_process *x = &sorted->model->processes[i], *y = &sorted->model->processes[j];
    const struct vt_gate_process *u = &sorted->processes[i], *v = &sorted->processes[j];
    if (rank_key(x) != rank_key(y))
        return rank_key(x) < rank_key(y) ? -1 : 1;
    int order = compare_commands(x, y);
    if (order)
        return order;
    return VT_ORDER({v->leaked.bytes, u->leaked.bytes}, {v->leaked.blocks, u->leaked.blocks},
                    {v->failures, u->failures}, {x->pid, y->pid});
}

static int by_badness(const void *a, const void *b) {
    const struct vt_gate_finding *x = a, *y = b;
    int order =
        VT_ORDER({x->outcome, y->outcome}, {y->badness, x->badness}, {!x->site, !y->site},
                 {x->site ? x->site->verdict : 0, y->site ? y->site->verdict : 0},
                 {x->group, y->group}, {x->site ? x->site->id : 0, y->site ? y->site->id : 0});
    if (order)
        return order;
    return x->process != y->process ? by_process(&x->process, &y->process)
                                    : VT_ORDER({x->device, y->device});
}

/* Ranks of one job usually hold about the same amount. Among three or more processes, an outlier holds more than twice
 * the median. */
static void find_outliers(struct vt_gate *g) {
    uint32_t n = g->model->process_count;
    VT_SCOPED uint64_t *bytes = vt_alloc(n, sizeof *bytes);
    for (uint32_t i = 0; i < n; i++)
        bytes[i] = g->processes[i].leaked.bytes;
    vt_sort_words(bytes, n);
    for (uint32_t i = 0; i < n && n >= 3; i++)
        g->processes[i].outlier = g->processes[i].leaked.bytes / 2 > bytes[n / 2] ||
                                  (g->processes[i].leaked.bytes && !bytes[n / 2]);
}

static void sum_up(struct vt_gate *g) {
    for (uint32_t i = 0; i < g->count; i++) {
        const struct vt_gate_finding *f = &g->findings[i];
        struct vt_gate_process *p = &g->processes[f->process];
        if (f->outcome == VT_GATE_FAILS) {
            g->failures++;
            p->failures++;
            p->failed = g->failed = true;
        }
        if (f->site) {
            g->counts[f->outcome]++;
            g->bytes[f->outcome] += f->amount.bytes;
        }
        if (f->site && f->outcome <= VT_GATE_TOLERATED)
            vt_amount_add(&p->leaked, f->amount);
        if (f->rule >= 0)
            g->options->suppressions->rules[f->rule].sites++;
    }
    for (uint32_t i = 0; i < g->model->process_count; i++)
        for (uint32_t j = 0; j < g->model->processes[i].device_count; j++)
            if (g->processes[i].peak_bytes < g->model->processes[i].devices[j].peak_bytes)
                g->processes[i].peak_bytes = g->model->processes[i].devices[j].peak_bytes;
}

void vt_gate_judge(const struct vt_model *model, const struct vt_gate_options *options,
                   struct vt_gate *g) {
    uint32_t room = 0;
    *g = (struct vt_gate){.model = model, .options = options};
    g->processes = vt_alloc(model->process_count, sizeof *g->processes);
    g->order = vt_alloc(model->process_count, sizeof *g->order);
    for (uint32_t i = 0; i < model->process_count; i++) {
        uint32_t start = g->count;
        g->order[i] = i;
        find_leaks(g, i, &room);
        sum_groups(g, start);
        apply_baseline(g, start);
        apply_earlier(g, start);
        find_open(g, i);
        find_peaks(g, i, &room);
    }
    apply_tolerance(g);
    sum_up(g);
    if (options->earlier)
        vt_earlier_compare(options->earlier, model, options->max_increase, g->figures);
    for (unsigned m = 0; m < VT_GATE_MEASURES; m++)
        g->failed |= g->figures[m].fails;
    for (uint32_t i = 0; i < model->process_count && !g->failed; i++) {
        g->processes[i].open_events = open_events(g, &model->processes[i]);
        g->processes[i].open = g->processes[i].open_events || model->processes[i].quality.gaps ||
                               (options->earlier && !options->earlier->runs);
        g->open_events += g->processes[i].open_events;
        g->open |= g->processes[i].open;
    }
    find_outliers(g);
    sorted = g;
    vt_sort(g->findings, g->count, sizeof *g->findings, by_badness);
    vt_gate_lines_make(g);
    vt_sort(g->order, model->process_count, sizeof *g->order, by_process);
}

void vt_gate_free(struct vt_gate *g) {
    free(g->findings);
    free(g->lines);
    free(g->leaks);
    free(g->processes);
    free(g->order);
    *g = (struct vt_gate){0};
}

/* --- the result --- */

void vt_gate_baseline(const struct vt_gate *g, struct vt_baseline *baseline) {
    for (uint32_t i = 0; i < g->count; i++) {
        const struct vt_gate_finding *f = &g->findings[i];
        struct vt_stack_key key;
        if (!f->site || f->outcome == VT_GATE_SUPPRESSED)
            continue;
        vt_stack_key_make(f->site, &key);
        vt_baseline_raise(baseline, &key, f->of_group.bytes, f->of_group.blocks);
    }
}

char *vt_gate_process_name(const struct vt_process *p, bool stable) {
    struct vt_string name = {0};
    if (p->rank >= 0)
        vt_string_format(&name, "rank %d, ", p->rank);
    vt_string_add(&name, vt_process_program(p));
    if (!stable)
        vt_string_format(&name, " (pid %u)", p->pid);
    return vt_printable(name.text);
}

const char *const vt_gate_known_names[VT_GATE_KNOWNS] = {NULL, "new", "known", "larger"};
const char *const vt_gate_known_labels[VT_GATE_KNOWNS] = {NULL, "NEW", "KNOWN", "LARGER"};

const char *vt_gate_kind(const struct vt_gate_finding *f) {
    return f->site ? vt_verdict_names[f->site->verdict] : "peak";
}
