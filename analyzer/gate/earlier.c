/* SPDX-License-Identifier: MIT */
/*
 * The runs of a folder that began earlier (see earlier.h).
 */
#include "earlier.h"

#include "job/job.h"
#include "gate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the limit --- */

/* Student's t, 99th percentile, by degrees of freedom from 1. */
static double student(uint32_t freedom) {
    static const double t[] = {31.82, 6.965, 4.541, 3.747, 3.365, 3.143, 2.998,
                               2.896, 2.821, 2.764, 2.718, 2.681, 2.650, 2.624,
                               2.602, 2.583, 2.567, 2.552, 2.539, 2.528};
    uint32_t last = sizeof t / sizeof *t;
    return t[(freedom < last ? freedom : last) - 1];
}

uint64_t vt_earlier_noise(const uint64_t *all, uint32_t count) {
    double mean = 0, squares = 0;
    uint64_t most = 0;
    if (count < 2)
        return VT_UNKNOWN;
    for (uint32_t i = 0; i < count; i++) {
        mean += (double)all[i] / count;
        most = all[i] > most ? all[i] : most;
    }
    for (uint32_t i = 0; i < count; i++)
        squares += ((double)all[i] - mean) * ((double)all[i] - mean);
    double noise = mean + student(count - 1) * sqrt(squares / (count - 1) * (1 + 1.0 / count));
    return noise > (double)most ? (uint64_t)noise : most;
}

/* Compares with earlier runs; there must be at least one. */
static struct vt_gate_figure figure_of(const struct vt_earlier *e, unsigned measure, uint64_t bytes,
                                       double increase) {
    const uint64_t *all = e->figures[measure];
    struct vt_gate_figure f = {.bytes = bytes,
                               .median = all[(e->runs - 1) / 2],
                               .low = all[0],
                               .high = all[e->runs - 1],
                               .noise = vt_earlier_noise(all, e->runs),
                               .allowed = VT_UNKNOWN};
    if (increase >= 0) {
        f.allowed = (uint64_t)((double)f.median * (1 + increase));
        f.fails = f.bytes > f.allowed && f.bytes > vt_known(f.noise);
    }
    return f;
}

/* --- which runs count --- */

/* Reasons to leave a run out of the comparison. */
enum flaw { FAILED = 1, KILLED = 2, UNENDED = 4, CUT = 8, LOST = 16 };

struct reading {
    struct vt_earlier *earlier;
    struct vt_gate_options judges;
    struct vt_map programs; /* of the current run */
    unsigned flaws;         /* of the current run: they are no reason to leave others out */
    uint64_t until;         /* when the current run began */
};

static unsigned flaws_of(const struct vt_job_process *p) {
    static const unsigned endings[VT_ENDS] = {
        [VT_END_UNKNOWN] = UNENDED, [VT_END_RUNNING] = UNENDED, [VT_END_SIGNALED] = KILLED};
    unsigned flaws = endings[p->ending.how];
    if (p->ending.how == VT_END_EXITED && p->ending.status)
        flaws |= FAILED;
    return flaws | (p->quality.complete ? 0 : CUT) | (p->quality.missing ? LOST : 0);
}

static bool same_program(const struct reading *r, const struct vt_job_process *p) {
    return vt_map_get(&r->programs, vt_hash_bytes(0, p->program, strlen(p->program))) !=
           VT_MAP_NONE;
}

/* Inserts a run's figures, sorted by size. */
static void add_run(struct vt_earlier *e, const uint64_t bytes[VT_GATE_MEASURES]) {
    e->runs++;
    for (unsigned m = 0; m < VT_GATE_MEASURES; m++) {
        e->figures[m][e->runs - 1] = bytes[m];
        vt_sort_words(e->figures[m], e->runs);
    }
}

/* Adds the run of `count` processes, or leaves it out. Runs are read in the order of their start, and each is compared
 * with the earlier ones. */
static void read_run(struct reading *r, const struct vt_job *f, uint32_t first, uint32_t count) {
    struct vt_earlier *e = r->earlier;
    uint64_t bytes[VT_GATE_MEASURES] = {0};
    unsigned flaws = 0, before = 0;
    bool same = false, exceeds = false;
    for (uint32_t i = first; i < first + count; i++) {
        const struct vt_job_process *p = &f->processes[i];
        if (p->started_realtime >= r->until)
            continue;
        uint64_t peak = vt_job_peak(f, p);
        bytes[VT_GATE_PEAK] = peak > bytes[VT_GATE_PEAK] ? peak : bytes[VT_GATE_PEAK];
        bytes[VT_GATE_HELD] += vt_job_held(f, p);
        flaws |= flaws_of(p) & ~r->flaws;
        same |= same_program(r, p);
        before++;
    }
    for (unsigned m = 0; m < VT_GATE_MEASURES && e->runs; m++)
        exceeds |= figure_of(e, m, bytes[m], r->judges.max_increase).fails;
    if (!before)
        return;
    if (same && !flaws && !exceeds)
        add_run(e, bytes);
    else
        e->left_out[!same                                 ? VT_EARLIER_OTHER
                    : flaws & (FAILED | KILLED | UNENDED) ? VT_EARLIER_UNENDED
                    : flaws                               ? VT_EARLIER_INCOMPLETE
                                                          : VT_EARLIER_EXCEEDED]++;
    if (!same && !e->other)
        e->other = vt_strdup(f->processes[first].program);
}

static void read_runs(struct reading *r, const struct vt_job *f) {
    for (unsigned m = 0; m < VT_GATE_MEASURES; m++)
        r->earlier->figures[m] = vt_alloc(f->process_count, sizeof *r->earlier->figures[m]);
    for (uint32_t i = 0, n; i < f->process_count; i += n) {
        for (n = 1; i + n < f->process_count && f->processes[i + n].run == f->processes[i].run;)
            n++;
        read_run(r, f, i, n);
    }
}

/* --- reading --- */

static struct vt_job *job_of(const struct vt_model *model) {
    struct vt_job *job = vt_job_open();
    for (uint32_t i = 0; i < model->process_count; i++)
        vt_job_add(job, &model->processes[i]);
    vt_job_finish(job);
    return job;
}

/* Adds the leaks of a process of a run that counts: for each leak, the largest amount of any process. */
static bool add_leaks(void *to, const struct vt_model *one) {
    struct reading *r = to;
    struct vt_gate gate;
    if (one->processes[0].started_at >= r->until)
        return false;
    struct vt_job *job = job_of(one);
    const struct vt_job_process *p = job->processes;
    if (!(flaws_of(p) & ~r->flaws) && same_program(r, p)) {
        vt_gate_judge(one, &r->judges, &gate);
        vt_gate_baseline(&gate, &r->earlier->leaks);
        vt_gate_free(&gate);
        r->earlier->merged_only = false;
    }
    vt_job_free(job);
    return true;
}

int vt_earlier_read(const char *folder, const struct vt_model *model,
                    const struct vt_model_builder *builder, const struct vt_model_options *options,
                    const struct vt_gate_options *gate, struct vt_earlier *e,
                    struct vt_string *message) {
    struct reading r = {.earlier = e, .judges = *gate, .until = UINT64_MAX};
    struct vt_job *job = job_of(model);
    r.judges.baseline = NULL;
    r.judges.earlier = NULL;
    *e = (struct vt_earlier){.merged_only = true};
    for (uint32_t i = 0; i < job->process_count; i++) {
        const struct vt_job_process *p = &job->processes[i];
        vt_map_put(&r.programs, vt_hash_bytes(0, p->program, strlen(p->program)), i);
        r.flaws |= flaws_of(p) & (FAILED | KILLED | LOST);
        r.until = p->started_realtime < r.until ? p->started_realtime : r.until;
    }
    vt_job_free(job);
    job = vt_job_open();
    int error = vt_job_read_folder(job, folder, builder, options, add_leaks, &r, message);
    read_runs(&r, job);
    vt_job_free(job);
    vt_map_free(&r.programs);
    if (!error && !e->runs) {
        VT_SCOPED char *left_out = vt_earlier_left_out(e);
        vt_string_format(message, "%s: %s", folder,
                         left_out ? left_out : "no run began before this one");
        error = -ENOENT;
    }
    return error;
}

char *vt_earlier_left_out(const struct vt_earlier *e) {
    static const char *const why[VT_EARLIER_WHYS] = {
        "of another program", "failed, killed or not ended", "with an incomplete log",
        "that exceeded the limit itself"};
    struct vt_string text = {0};
    uint32_t all = 0;
    for (unsigned i = 0; i < VT_EARLIER_WHYS; i++) {
        if (!e->left_out[i])
            continue;
        vt_string_format(&text, "%s%u %s", all ? ", " : "", e->left_out[i], why[i]);
        if (i == VT_EARLIER_OTHER)
            vt_string_format(&text, " (%s)", e->other);
        all += e->left_out[i];
    }
    VT_SCOPED char *reasons = text.text;
    return all ? vt_formatted("%u earlier run%s left out: %s", all, vt_plural(all), reasons) : NULL;
}

/* --- comparing --- */

/* Lost frees can inflate a peak, so only the proven peak counts. */
static uint64_t sure_peak(const struct vt_model *model) {
    uint64_t peak = 0;
    for (uint32_t i = 0; i < model->process_count; i++)
        for (uint32_t d = 0; d < model->processes[i].device_count; d++)
            if (model->processes[i].devices[d].sure_peak_bytes > peak)
                peak = model->processes[i].devices[d].sure_peak_bytes;
    return peak;
}

void vt_earlier_compare(const struct vt_earlier *e, const struct vt_model *model, double increase,
                        struct vt_gate_figure figures[VT_GATE_MEASURES]) {
    struct vt_job *job = job_of(model);
    uint64_t bytes[VT_GATE_MEASURES] = {[VT_GATE_PEAK] = sure_peak(model)};
    for (uint32_t i = 0; i < job->process_count; i++)
        bytes[VT_GATE_HELD] += vt_job_held(job, &job->processes[i]);
    vt_job_free(job);
    for (unsigned m = 0; m < VT_GATE_MEASURES && e->runs; m++)
        figures[m] = figure_of(e, m, bytes[m], increase);
}

void vt_earlier_free(struct vt_earlier *e) {
    for (unsigned m = 0; m < VT_GATE_MEASURES; m++)
        free(e->figures[m]);
    free(e->other);
    vt_baseline_free(&e->leaks);
    *e = (struct vt_earlier){0};
}
