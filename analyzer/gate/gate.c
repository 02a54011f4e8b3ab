/* SPDX-License-Identifier: MIT */
/*
 * The leak gate (see gate.h).
 */
#include "gate.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

static bool fails(const struct vt_gate_options *o, const struct vt_process *p,
                  const struct vt_site *site) {
    if (site->verdict == VT_VERDICT_FREED || site->verdict == VT_VERDICT_CACHE ||
        site->verdict == VT_VERDICT_RUNTIME)
        return false;
    return o->chosen ? o->fails[site->verdict] : vt_verdict_fails_by_default(p, site->verdict);
}

/* --- findings --- */

static const struct vt_leak *leak_of(const struct vt_process *p, uint32_t site) {
    for (uint32_t i = 0; i < p->leak_count; i++)
        for (uint32_t j = 0; j < p->leaks[i].site_count; j++)
            if (p->leaks[i].sites[j] == site)
                return &p->leaks[i];
    return NULL;
}

static struct vt_gate_finding *append(struct vt_gate *g, uint32_t *room) {
    VT_GROW(g->findings, g->count, *room);
    g->findings[g->count] = (struct vt_gate_finding){.rule = -1, .accepted_bytes = VT_UNKNOWN};
    return &g->findings[g->count++];
}

static void find_leaks(struct vt_gate *g, uint32_t process, uint32_t *room) {
    const struct vt_process *p = &g->model->processes[process];
    for (uint32_t i = 0; i < p->site_count; i++) {
        const struct vt_site *site = &p->sites[i];
        struct vt_stack_key key;
        if (!fails(g->options, p, site))
            continue;
        struct vt_gate_finding *f = append(g, room);
        vt_stack_key_make(site, &key);
        f->process = process;
        f->device = site->device;
        f->site = site;
        f->leak = leak_of(p, i);
        f->amount = vt_amount_of_site(site, f->leak);
        f->bytes = f->amount.bytes;
        f->blocks = f->amount.blocks;
        f->group = key.hash;
        vt_stack_key_free(&key);
        if (g->options->suppressions)
            f->rule = vt_suppress_find(g->options->suppressions, site->stack);
        if (f->rule >= 0)
            f->outcome = VT_GATE_SUPPRESSED;
    }
}

static void find_peaks(struct vt_gate *g, uint32_t process, uint32_t *room) {
    const struct vt_process *p = &g->model->processes[process];
    for (uint32_t i = 0; i < p->device_count; i++) {
        const struct vt_device *d = &p->devices[i];
        if (d->peak_bytes <= g->options->max_peak)
            continue;
        struct vt_gate_finding *f = append(g, room);
        f->process = process;
        f->device = d->ordinal;
        f->bytes = f->amount.bytes = d->peak_bytes;
        f->group = d->ordinal;
    }
}

/* The findings of one process from `start` on, against the baseline: sites that differ in what the
 * baseline does not know (lines, devices) are judged together. */
static void apply_baseline(struct vt_gate *g, uint32_t start) {
    for (uint32_t i = start; g->options->baseline && i < g->count; i++) {
        struct vt_gate_finding *f = &g->findings[i];
        uint64_t bytes = 0;
        struct vt_baseline_entry *e = f->site && f->outcome == VT_GATE_FAILS
                                          ? vt_baseline_find(g->options->baseline, f->group)
                                          : NULL;
        if (!e)
            continue;
        for (uint32_t j = start; j < g->count; j++)
            if (g->findings[j].site && g->findings[j].rule < 0 && g->findings[j].group == f->group)
                bytes += g->findings[j].bytes;
        e->seen = true;
        if (bytes > e->bytes)
            f->accepted_bytes = e->bytes;
        else
            f->outcome = VT_GATE_ACCEPTED;
    }
}

/* --max-leaked: all of it passes, or none of it. */
static void apply_tolerance(struct vt_gate *g) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < g->count; i++)
        if (g->findings[i].site && g->findings[i].outcome == VT_GATE_FAILS)
            bytes += g->findings[i].bytes;
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

static const struct vt_gate *sorted; /* for qsort: one thread */

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
    if (u->leaked_bytes != v->leaked_bytes)
        return u->leaked_bytes > v->leaked_bytes ? -1 : 1;
    if (u->leaked_blocks != v->leaked_blocks)
        return u->leaked_blocks > v->leaked_blocks ? -1 : 1;
    if (u->failures != v->failures)
        return u->failures > v->failures ? -1 : 1;
    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static uint64_t badness(const struct vt_gate_finding *f) {
    return f->site ? f->amount.bytes : f->bytes - sorted->options->max_peak;
}

static int by_badness(const void *a, const void *b) {
    const struct vt_gate_finding *x = a, *y = b;
    if (x->outcome != y->outcome)
        return x->outcome < y->outcome ? -1 : 1;
    if (badness(x) != badness(y))
        return badness(x) > badness(y) ? -1 : 1;
    if (!x->site != !y->site)
        return !x->site ? 1 : -1;
    if (x->site && x->site->verdict != y->site->verdict)
        return x->site->verdict < y->site->verdict ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->site && x->site->id != y->site->id)
        return x->site->id < y->site->id ? -1 : 1;
    return x->process != y->process ? by_process(&x->process, &y->process)
                                    : (x->device > y->device) - (x->device < y->device);
}

static int by_number(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Who is not like the others: of three processes or more, those that hold more than twice what the
 * middle one does. Ranks of one job are expected to do the same. */
static void find_outliers(struct vt_gate *g) {
    uint32_t n = g->model->process_count;
    uint64_t *bytes = vt_alloc(n, sizeof *bytes);
    for (uint32_t i = 0; i < n; i++)
        bytes[i] = g->processes[i].leaked_bytes;
    if (n)
        qsort(bytes, n, sizeof *bytes, by_number);
    for (uint32_t i = 0; i < n && n >= 3; i++)
        g->processes[i].outlier = g->processes[i].leaked_bytes / 2 > bytes[n / 2] ||
                                  (g->processes[i].leaked_bytes && !bytes[n / 2]);
    free(bytes);
}

static void sum_up(struct vt_gate *g) {
    for (uint32_t i = 0; i < g->count; i++) {
        const struct vt_gate_finding *f = &g->findings[i];
        struct vt_gate_process *p = &g->processes[f->process];
        if (f->outcome == VT_GATE_FAILS) {
            g->failures++;
            p->failures++;
            p->failed = g->failed = true;
            g->failing_bytes += f->site ? f->amount.bytes : 0;
        }
        if (f->site) {
            g->counts[f->outcome]++;
            g->bytes[f->outcome] += f->bytes;
        }
        if (f->site && f->outcome <= VT_GATE_TOLERATED) {
            p->leaked_bytes += f->bytes;
            p->leaked_blocks += f->blocks;
            p->shown_bytes += f->amount.bytes;
        }
        if (f->rule >= 0) {
            g->options->suppressions->rules[f->rule].sites++;
            g->options->suppressions->rules[f->rule].bytes += f->bytes;
        }
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
        apply_baseline(g, start);
        find_peaks(g, i, &room);
    }
    apply_tolerance(g);
    sum_up(g);
    find_outliers(g);
    sorted = g;
    if (g->count)
        qsort(g->findings, g->count, sizeof *g->findings, by_badness);
    if (model->process_count)
        qsort(g->order, model->process_count, sizeof *g->order, by_process);
}

void vt_gate_free(struct vt_gate *g) {
    free(g->findings);
    free(g->processes);
    free(g->order);
    *g = (struct vt_gate){0};
}

/* --- what came of it --- */

void vt_gate_baseline(const struct vt_gate *g, struct vt_baseline *baseline) {
    *baseline = (struct vt_baseline){0};
    for (uint32_t i = 0; i < g->count; i++) {
        const struct vt_gate_finding *f = &g->findings[i];
        struct vt_stack_key key;
        uint64_t bytes = 0, blocks = 0;
        if (!f->site || f->outcome == VT_GATE_SUPPRESSED)
            continue;
        for (uint32_t j = 0; j < g->count; j++) {
            const struct vt_gate_finding *other = &g->findings[j];
            if (other->site && other->process == f->process && other->group == f->group &&
                other->outcome != VT_GATE_SUPPRESSED) {
                bytes += other->bytes;
                blocks += other->blocks;
            }
        }
        vt_stack_key_make(f->site, &key);
        vt_baseline_raise(baseline, &key, bytes, blocks);
    }
}

uint32_t vt_gate_together(const struct vt_gate *g, uint32_t index, struct vt_amount *sum) {
    const struct vt_gate_finding *f = &g->findings[index];
    bool *has = vt_alloc(g->model->process_count, sizeof *has);
    uint32_t processes = 0;
    *sum = (struct vt_amount){0};
    for (uint32_t i = 0; i < g->failures; i++) {
        const struct vt_gate_finding *other = &g->findings[i];
        if (other->group != f->group || !other->site != !f->site ||
            (f->site && other->site->verdict != f->site->verdict))
            continue;
        if (i < index) {
            processes = 0;
            break;
        }
        vt_amount_add(sum, other->amount);
        processes += !has[other->process];
        has[other->process] = true;
    }
    free(has);
    return processes;
}

/* The evidence in figures that a program decides: not in times, rates, or what a search came across.
 */
static void stable_why(const struct vt_site *site, const struct vt_amount *amount,
                       struct vt_string *why) {
    char live[VT_FORMAT_BYTES], all[VT_FORMAT_BYTES], freed[VT_FORMAT_BYTES];
    vt_string_format(why, "%s of %s allocation%s %s %s", vt_format_count(site->live_count, live),
                     vt_format_count(site->alloc_count, all), site->alloc_count == 1 ? "" : "s",
                     site->live_count == 1 ? "was" : "were",
                     site->went_count ? "never freed" : "still live at the end");
    if (site->went_count)
        vt_string_format(why, ", %s went with %s context (%s)",
                         vt_format_count(site->went_count, freed),
                         site->went_count == 1 ? "its" : "their",
                         site->went_by ? site->went_by : "an unknown call");
    if (amount->freed)
        vt_string_format(why, ", %s %s freed only at exit", vt_format_count(amount->freed, freed),
                         amount->freed == 1 ? "was" : "were");
    if (site->verdict == VT_VERDICT_LOST)
        vt_string_add(why, ", and some have no pointer left to them");
    if (site->verdict == VT_VERDICT_GROWING)
        vt_string_add(why, "; live memory rose over the run and would go on rising");
}

char *vt_gate_why(const struct vt_gate *g, const struct vt_gate_finding *f, bool stable) {
    char a[VT_FORMAT_BYTES], b[VT_FORMAT_BYTES];
    struct vt_string why = {0};
    if (!f->site) {
        vt_format_bytes(g->options->max_peak, b);
        if (stable)
            vt_string_format(&why, "its peak is over --max-peak %s", b);
        else
            vt_string_format(&why, "its peak of %s is over --max-peak %s",
                             vt_format_bytes(f->bytes, a), b);
        return why.text;
    }
    if (stable)
        stable_why(f->site, &f->amount, &why);
    else
        vt_string_add(&why, f->site->why ? f->site->why : vt_verdict_names[f->site->verdict]);
    if (f->accepted_bytes != VT_UNKNOWN)
        vt_string_format(&why, "; grown beyond the %s that the baseline accepts",
                         vt_format_bytes(f->accepted_bytes, a));
    return why.text;
}

const char *vt_gate_program(const struct vt_process *p) {
    const char *first = p->command_count ? vt_basename(p->command[0]) : "";
    /* "python3 train.py" is called train.py */
    if (p->python && p->command_count > 1 && p->command[1][0] && p->command[1][0] != '-')
        return vt_basename(p->command[1]);
    if (p->python && p->command_count > 2 && !strcmp(p->command[1], "-m"))
        return p->command[2];
    return *first ? first : p->exe ? vt_basename(p->exe) : "unknown program";
}

char *vt_gate_process_name(const struct vt_process *p, bool stable) {
    struct vt_string name = {0};
    if (p->rank >= 0)
        vt_string_format(&name, "rank %d, ", p->rank);
    vt_string_add(&name, vt_gate_program(p));
    if (!stable)
        vt_string_format(&name, " (pid %u)", p->pid);
    return name.text;
}

const char *vt_gate_kind(const struct vt_gate_finding *f) {
    return f->site ? vt_verdict_names[f->site->verdict] : "peak";
}
