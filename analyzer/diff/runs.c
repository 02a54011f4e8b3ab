/* SPDX-License-Identifier: MIT */
/*
 * Two sets of runs: their figures, and which of them changed (see runs.h). Lines match by VT_LINE_NAMED
 * (model/source_line.h) and layer. If a function has equally many lines in both sets, they are matched in order,
 * because an edit above moves them all; otherwise by line number.
 */
#include "runs.h"

#include "logfile/logfile.h"

#include <stdlib.h>
#include <string.h>

static uint64_t text_key(uint64_t seed, const char *text) {
    return vt_hash_bytes(seed, text ? text : "", text ? strlen(text) : 0);
}

/* --- figures --- */

struct taking {
    struct vt_runs *runs;
    struct vt_map by_key; /* of figures */
    unsigned set;
    uint32_t run; /* in the set */
};

/* Finds or adds the figure with this key. */
static struct vt_runs_figure *figure(struct taking *t, uint64_t key, struct vt_runs_figure new) {
    struct vt_runs *r = t->runs;
    new.function = text_key(vt_mix(vt_mix(key + new.of) + new.device), new.what);
    uint32_t at = vt_map_add(&t->by_key, vt_mix(new.function) + new.line, r->count);
    if (at == r->count) {
        new.name = new.name ? vt_strdup(new.name) : NULL;
        *VT_ADD(r->figures, r->count, r->room) = new;
    }
    uint64_t **values = &r->figures[at].values[t->set];
    *values = *values ? *values : vt_alloc(r->runs[t->set], sizeof **values);
    return &r->figures[at];
}

/* A figure's value in the current run. */
static uint64_t *value(struct taking *t, uint64_t key, struct vt_runs_figure new) {
    return &figure(t, key, new)->values[t->set][t->run];
}

static void raise(uint64_t *value, uint64_t to) {
    *value = to > *value ? to : *value;
}

/* Adds a site's figures. Blocks in a caching allocator's segments have lines of their own. Returns the bytes that the
 * site adds to the run's total. */
static uint64_t add_site(struct taking *t, const struct vt_process *p, const struct vt_site *site) {
    const struct vt_frame *frame = vt_stack_main_frame(site->stack);
    uint64_t held = vt_site_compared_bytes(p, site);
    if (!site->segments) {
        VT_SCOPED char *name = vt_stack_text(p, site->stack, VT_RUNS_NAME, false);
        uint64_t key = vt_mix(site->layer) + vt_stack_line(site->stack, VT_LINE_NAMED);
        struct vt_runs_figure new = {.of = VT_RUNS_LINE,
                                     .what = "peak",
                                     .name = name,
                                     .device = site->device,
                                     .layer = site->layer,
                                     .line = frame && frame->file ? frame->line : 0};
        figure(t, key, new)->sites += site->peak_bytes;
        new.what = "held";
        *value(t, key, new) += held;
    }
    return site->layer == VT_LAYER_DRIVER ? held : 0;
}

/* Adds the peaks of lines. A line's call sites may peak at different times, so the line's peak is limited to the
 * device's. */
static void add_line_peaks(struct taking *t, const struct vt_process *p) {
    for (uint32_t i = 0; i < t->runs->count; i++) {
        struct vt_runs_figure *f = &t->runs->figures[i];
        uint64_t most =
            f->device == VT_DEVICE_HOST ? p->pinned.peak_bytes + p->managed.peak_bytes : VT_UNKNOWN;
        for (uint32_t d = 0; d < p->device_count; d++)
            most = p->devices[d].ordinal == f->device ? p->devices[d].peak_bytes : most;
        if (f->sites)
            f->values[t->set][t->run] += f->sites < most ? f->sites : most;
        f->sites = 0;
    }
}

static void add_phase(struct taking *t, const char *name, uint64_t peak, uint64_t left) {
    struct vt_runs_figure new = {.of = VT_RUNS_PHASE, .what = "peak", .name = (char *)name};
    raise(value(t, text_key(0, name), new), peak);
    new.what = "left";
    *value(t, text_key(0, name), new) += left;
}

static void add_process(struct taking *t, const struct vt_process *p) {
    struct vt_runs_figure peak = {.what = "peak"}, held = {.what = "held"};
    uint64_t *most = value(t, 0, peak), sum = 0;
    for (uint32_t i = 0; i < p->device_count; i++)
        raise(most, p->devices[i].peak_bytes);
    for (uint32_t i = 0; i < p->site_count; i++)
        sum += add_site(t, p, &p->sites[i]);
    *value(t, 0, held) += sum;
    add_line_peaks(t, p);
    for (uint32_t i = 0; i < p->phase_count; i++) {
        const struct vt_phase *phase = &p->phases[i];
        VT_SCOPED char *name = phase->name ? vt_phase_group_name(phase->name) : NULL;
        uint64_t end = vt_known(phase->live_at_end), start = vt_known(phase->live_at_start);
        if (name && !phase->mark)
            add_phase(t, name, vt_known(phase->peak_bytes), end > start ? end - start : 0);
    }
    for (uint32_t i = 0; i < p->phase_sum_count; i++)
        if (p->phase_sums[i].name && !p->phase_sums[i].mark)
            add_phase(t, p->phase_sums[i].name, 0, p->phase_sums[i].rose);
}

/* --- lines that moved --- */

static int by_line(const void *a, const void *b) {
    const struct vt_runs_figure *x = a, *y = b;
    return VT_ORDER({x->of, y->of}, {x->function, y->function}, {x->line, y->line});
}

/* Matches the lines of one function, or a single other figure. */
static void match_function(struct vt_runs_figure *lines, uint32_t count) {
    VT_SCOPED uint64_t **before = vt_alloc(count, sizeof *before);
    uint32_t n = 0, m = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (lines[i].values[0])
            before[n++] = lines[i].values[0];
        m += lines[i].values[1] != NULL;
    }
    for (uint32_t i = 0, at = 0; i < count && n == m; i++)
        lines[i].values[0] = lines[i].values[1] ? before[at++] : NULL;
}

/* Matches lines, and drops those merged into another. A figure missing in a set is 0 in all its runs. */
static void match_lines(struct vt_runs *r) {
    uint32_t count = 0;
    vt_sort(r->figures, r->count, sizeof *r->figures, by_line);
    for (uint32_t i = 0, n; i < r->count; i += n) {
        for (n = 1; i + n < r->count && r->figures[i + n].of == r->figures[i].of &&
                    r->figures[i + n].function == r->figures[i].function;)
            n++;
        match_function(&r->figures[i], n);
    }
    for (uint32_t i = 0; i < r->count; i++) {
        struct vt_runs_figure *f = &r->figures[i];
        if (!f->values[0] && !f->values[1]) {
            free(f->name);
            continue;
        }
        for (unsigned set = 0; set < 2; set++)
            f->values[set] =
                f->values[set] ? f->values[set] : vt_alloc(r->runs[set], sizeof(uint64_t));
        r->figures[count++] = *f;
    }
    r->count = count;
}

/* --- changes --- */

static void sum_up(struct vt_runs_figure *f, const uint32_t runs[2]) {
    for (unsigned set = 0; set < 2; set++) {
        vt_sort_words(f->values[set], runs[set]);
        f->low[set] = f->values[set][0];
        f->high[set] = f->values[set][runs[set] - 1];
        f->median[set] = f->values[set][(runs[set] - 1) / 2];
    }
    bool exact = f->low[0] == f->high[0] && f->low[1] == f->high[1];
    f->state = exact && f->low[0] == f->low[1]      ? VT_RUNS_SAME
               : f->p < 0                           ? VT_RUNS_FEW
               : exact || f->p <= VT_PERMUTE_CHANCE ? VT_RUNS_CHANGED
                                                    : VT_RUNS_NOISE;
}

static int by_state(const void *a, const void *b) {
    const struct vt_runs_figure *x = a, *y = b;
    int order =
        VT_ORDER({x->state, y->state}, {vt_runs_change(y), vt_runs_change(x)}, {x->of, y->of});
    order = order || !x->name ? order : strcmp(x->name, y->name);
    return order ? order
                 : VT_ORDER({x->device, y->device}, {x->function, y->function}, {x->line, y->line});
}

/* --- both sets --- */

/* Numbers the runs of a folder's logs into `run`; a log named directly is a run. Returns their number. */
static uint32_t number_runs(const struct vt_logs *logs, uint32_t *run) {
    VT_SCOPED_MAP numbers = {0};
    for (uint32_t i = 0; i < logs->count; i++)
        run[i] = vt_map_add(&numbers, logs->runs ? logs->runs[i] : i, (uint32_t)numbers.used);
    return (uint32_t)numbers.used;
}

/* Whether a process ran to its end and its log is complete. */
static bool is_measure(const struct vt_process *p) {
    bool ended = vt_ended_well(p->ending) || p->ending.how == VT_END_EXEC;
    return ended && vt_log_is_whole(&p->quality);
}

/* Leaves out the set's bad runs, unless all are bad. */
static void leave_out(struct taking *t, const bool *bad) {
    uint32_t *runs = &t->runs->runs[t->set], good = 0;
    for (uint32_t i = 0; i < *runs; i++)
        good += !bad[i];
    if (!good)
        return;
    for (uint32_t i = 0; i < t->runs->count; i++) {
        uint64_t *values = t->runs->figures[i].values[t->set];
        for (uint32_t from = 0, to = 0; values && from < *runs; from++)
            if (!bad[from])
                values[to++] = values[from];
    }
    t->runs->left_out[t->set] = *runs - good;
    *runs = good;
}

static int read_set(struct taking *t, const struct vt_logs *logs, const uint32_t *run,
                    const struct vt_model_builder *builder, const struct vt_model_options *options,
                    struct vt_string *message) {
    VT_SCOPED bool *bad = vt_alloc(t->runs->runs[t->set], sizeof *bad);
    int error = 0;
    for (uint32_t i = 0; i < logs->count && !error; i++) {
        struct vt_model one;
        error = builder->build((const char *const *)&logs->paths[i], 1, options, &one, message);
        if (error)
            break;
        t->run = run[i];
        add_process(t, &one.processes[0]);
        bad[t->run] |= !is_measure(&one.processes[0]);
        builder->free(&one);
    }
    leave_out(t, bad);
    return error;
}

int vt_runs_compare(char *const folders[2], const struct vt_model_builder *builder,
                    const struct vt_model_options *options, struct vt_runs *r,
                    struct vt_string *message) {
    struct taking t = {.runs = r};
    int error = 0;
    *r = (struct vt_runs){0};
    for (unsigned set = 2; set-- && !error;) { /* the second set determines a figure's name */
        struct vt_logs logs;
        error = vt_logs_find(&folders[set], 1, "all", &logs, message);
        VT_SCOPED uint32_t *run = vt_alloc(logs.count, sizeof *run);
        r->runs[set] = number_runs(&logs, run);
        t.set = set;
        if (!error)
            error = read_set(&t, &logs, run, builder, options, message);
        vt_logs_free(&logs);
    }
    if (!error) {
        match_lines(r);
        r->splits = vt_permute(r->figures, r->count, r->runs);
        for (uint32_t i = 0; i < r->count; i++)
            sum_up(&r->figures[i], r->runs);
        vt_sort(r->figures, r->count, sizeof *r->figures, by_state);
    }
    vt_map_free(&t.by_key);
    return error;
}

void vt_runs_free(struct vt_runs *r) {
    for (uint32_t i = 0; i < r->count; i++) {
        free(r->figures[i].name);
        free(r->figures[i].values[0]);
        free(r->figures[i].values[1]);
    }
    free(r->figures);
    *r = (struct vt_runs){0};
}
