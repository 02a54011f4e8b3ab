/* SPDX-License-Identifier: MIT */
/*
 * The runs of a folder that began earlier (see earlier.h).
 */
#include "earlier.h"

#include "fleet/fleet.h"
#include "gate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* --- figures of runs --- */

/* The figures of each run of a finished fleet that has a process before `until`. */
static void take_runs(const struct vt_fleet *f, uint64_t until, struct vt_earlier *e) {
    VT_SCOPED_MAP runs = {0};
    for (unsigned m = 0; m < VT_GATE_MEASURES; m++)
        e->figures[m] = vt_alloc(f->process_count, sizeof *e->figures[m]);
    for (uint32_t i = 0; i < f->process_count; i++) {
        const struct vt_fleet_process *p = &f->processes[i];
        if (p->started_realtime >= until)
            continue;
        uint32_t run = vt_map_add(&runs, p->run, e->runs);
        e->runs += run == e->runs;
        uint64_t peak = vt_fleet_peak(f, p);
        if (peak > e->figures[VT_GATE_PEAK][run])
            e->figures[VT_GATE_PEAK][run] = peak;
        e->figures[VT_GATE_HELD][run] += vt_fleet_held(f, p);
    }
    for (unsigned m = 0; m < VT_GATE_MEASURES; m++)
        vt_sort_words(e->figures[m], e->runs);
}

/* --- reading --- */

struct reading {
    struct vt_earlier *earlier;
    struct vt_gate_options judges;
    uint64_t until;
};

/* Takes the leaks of a process that began before: of each the most that any held. */
static bool take_leaks(void *to, const struct vt_model *one) {
    struct reading *r = to;
    struct vt_gate gate;
    if (one->processes[0].started_at >= r->until)
        return false;
    vt_gate_judge(one, &r->judges, &gate);
    vt_gate_baseline(&gate, &r->earlier->leaks);
    vt_gate_free(&gate);
    r->earlier->merged_only = false;
    return true;
}

int vt_earlier_read(const char *folder, const struct vt_model *model,
                    const struct vt_model_builder *builder, const struct vt_model_options *options,
                    const struct vt_gate_options *gate, struct vt_earlier *e,
                    struct vt_string *message) {
    struct reading r = {.earlier = e, .judges = *gate, .until = UINT64_MAX};
    struct vt_fleet *fleet = vt_fleet_open();
    r.judges.baseline = NULL;
    r.judges.earlier = NULL;
    *e = (struct vt_earlier){.merged_only = true};
    for (uint32_t i = 0; i < model->process_count; i++)
        if (model->processes[i].started_at < r.until)
            r.until = model->processes[i].started_at;
    int error = vt_fleet_read_folder(fleet, folder, builder, options, take_leaks, &r, message);
    take_runs(fleet, r.until, e);
    vt_fleet_free(fleet);
    if (!error && !e->runs) {
        vt_string_format(
            message, "--against %s: expected a run that began before this one, found none", folder);
        error = -ENOENT;
    }
    return error;
}

/* --- comparing --- */

/* Student's t: 99 of 100 are below, by degrees of freedom from 1 on. */
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

/* Lost frees can make up a peak: it is at most what is sure. */
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
    struct vt_fleet *fleet = vt_fleet_open();
    uint64_t bytes[VT_GATE_MEASURES] = {[VT_GATE_PEAK] = sure_peak(model)};
    for (uint32_t i = 0; i < model->process_count; i++)
        vt_fleet_add(fleet, &model->processes[i]);
    vt_fleet_finish(fleet);
    for (uint32_t i = 0; i < fleet->process_count; i++)
        bytes[VT_GATE_HELD] += vt_fleet_held(fleet, &fleet->processes[i]);
    vt_fleet_free(fleet);
    for (unsigned m = 0; m < VT_GATE_MEASURES; m++) {
        const uint64_t *all = e->figures[m];
        struct vt_gate_figure *f = &figures[m];
        *f = (struct vt_gate_figure){.bytes = bytes[m],
                                     .median = all[(e->runs - 1) / 2],
                                     .low = all[0],
                                     .high = all[e->runs - 1],
                                     .noise = vt_earlier_noise(all, e->runs),
                                     .allowed = VT_UNKNOWN};
        if (increase < 0)
            continue;
        f->allowed = (uint64_t)((double)f->median * (1 + increase));
        f->fails = f->bytes > f->allowed && f->bytes > vt_known(f->noise);
    }
}

void vt_earlier_free(struct vt_earlier *e) {
    for (unsigned m = 0; m < VT_GATE_MEASURES; m++)
        free(e->figures[m]);
    vt_baseline_free(&e->leaks);
    *e = (struct vt_earlier){0};
}
