/* SPDX-License-Identifier: MIT */
/*
 * A run's memory needs, and where it fits (see fit.h).
 *
 * A process's device memory consists of PyTorch's segments, from the model; memory outside them, as recorded over time;
 * and the driver's own share, from NVML's samples. Without samples, a measured share (CONTEXT) is subtracted from each
 * usual card. For a program without PyTorch's allocator, the need is its allocations, rounded up to the driver's pages.
 */
#include "fit.h"

#include "logfile/logfile.h"
#include "replay/replay.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Usable memory: the smallest "total capacity" that PyTorch has reported for such a card. The rest is kept by the
 * driver, or by ECC, which takes a sixteenth of GDDR. */
#define CARD(gib, usable)                                                                          \
    { #gib " GiB", (uint64_t)gib << 30, (uint64_t)(usable * (1 << 30)) }
const struct vt_fit_card vt_fit_cards[] = {
    CARD(8, 7.76),    /* RTX 3070 */
    CARD(12, 11.66),  /* RTX 3060, 4070 */
    CARD(16, 14.56),  /* T4; RTX A4000: 15.6 */
    CARD(24, 22.03),  /* A10, L4; RTX 3090, 4090: 23.5 */
    CARD(32, 31.36),  /* RTX 5090; V100: 31.7 */
    CARD(40, 39.38),  /* A100 */
    CARD(48, 44.39),  /* L40, RTX 6000 Ada; RTX A6000: 47.5 */
    CARD(80, 79.10),  /* H100; A100: 79.2 */
    CARD(96, 93.02),  /* H100 NVL; RTX PRO 6000: 94.9 */
    CARD(141, 139.7), /* H200 */
    CARD(192, 178.3), /* B200 */
    {NULL, 0, 0},
};
#undef CARD

/* Measured on an H200: 518 to 638 MiB for PyTorch and for a C program, including loaded code. */
#define CONTEXT ((uint64_t)640 << 20)

/* --- known facts --- */

/* Why events are missing, in which case there is no definite answer. NULL: the log is complete. */
static char *missing_events(const struct vt_process *p) {
    if (p->quality.details_from)
        return vt_formatted("the log was compacted: single events before %s are gone",
                            VT_DURATION(p->quality.details_from));
    if (p->quality.missing)
        return vt_formatted("%s event%s could not be recorded", VT_NUMBER(p->quality.missing),
                            vt_plural(p->quality.missing));
    return p->quality.gaps ? vt_strdup("the log is cut off or damaged") : NULL;
}

/* Whether two processes ran at the same time. */
static bool overlap(const struct vt_process *a, const struct vt_process *b) {
    return a->started_at <= b->started_at + b->duration &&
           b->started_at <= a->started_at + a->duration;
}

/* Counts the recorded processes that shared the GPU, and sums up their peaks. */
static void find_sharers(struct vt_fit *fit, const struct vt_model *model) {
    fit->sharers = 1;
    for (uint32_t i = 0; i < model->process_count; i++) {
        const struct vt_process *p = &model->processes[i];
        fit->processes += p->device_count > 0;
        for (uint32_t j = 0; j < p->device_count && p != fit->process; j++) {
            const struct vt_device *d = &p->devices[j];
            if (!d->uuid || !vt_same_text(d->uuid, fit->device->uuid) || !overlap(p, fit->process))
                continue;
            fit->sharers++;
            fit->shared_bytes += d->peak_bytes + (p->simulated ? 0 : vt_known(d->untracked_bytes));
        }
    }
}

/* Counts the failures that were reported to the program and after which it continued. PyTorch's allocator reports a
 * failure only after its own retries. */
static void find_caught(struct vt_fit *fit) {
    const struct vt_process *p = fit->process;
    for (uint32_t i = p->oom_count; i-- > 0;) {
        const struct vt_oom *oom = &p->ooms[i];
        if (oom == fit->oom || oom->device != fit->device->ordinal ||
            (fit->torch && oom->outcome != VT_OOM_RAISED))
            continue;
        fit->caught++;
        fit->caught_at = oom->at;
    }
}

static void set_known(struct vt_fit *fit) {
    const struct vt_process *p = fit->process;
    const struct vt_device *d = fit->device;
    const struct vt_oom *oom = vt_process_oom(p);
    fit->torch = d->has_blocks && !strcmp(d->blocks.name, "PyTorch") &&
                 d->blocks.reserved_peak_bytes != VT_UNKNOWN;
    fit->settings = vt_replay_torch_settings(p->variables, p->variable_count, &(const char *){0});
    fit->deviation = NAN;
    fit->recorded_reserved_bytes = fit->torch ? d->blocks.reserved_peak_bytes : VT_UNKNOWN;
    fit->model_reserved_bytes = fit->needs_bytes = fit->from_bytes = fit->to_bytes = VT_UNKNOWN;
    fit->driver_bytes = p->simulated ? VT_UNKNOWN : d->untracked_bytes;
    fit->why = missing_events(p);
    if (oom && !vt_ended_well(p->ending) && oom->outcome != VT_OOM_RECOVERED &&
        oom->device == d->ordinal)
        fit->oom = oom;
    fit->ended_early = !vt_ended_well(p->ending);
    find_caught(fit);
}

/* --- the rows --- */

/* The memory left for this process: without the others' peaks; on a usual card also without the context, if the log
 * does not have its size. On the recorded device, at least as much as the process used. */
static struct vt_fit_memory memory_beside(const struct vt_fit *fit, struct vt_fit_memory memory) {
    if (memory.usable_bytes < memory.bytes && !memory.here && fit->driver_bytes == VT_UNKNOWN)
        memory.usable_bytes -= CONTEXT;
    uint64_t had = memory.here ? fit->device->peak_bytes + vt_known(fit->driver_bytes) : 0;
    uint64_t rest = vt_beyond(memory.usable_bytes, fit->shared_bytes);
    if (fit->shared_bytes && memory.usable_bytes != VT_UNKNOWN)
        memory.usable_bytes = rest > had ? rest : had;
    return memory;
}

/* Adds a row for each of the given settings; if none are given, for the recorded ones. */
static void add_rows(struct vt_fit *fit, const char *const *confs, uint32_t count,
                     struct vt_fit_memory memory) {
    for (uint32_t i = 0; i < (count ? count : 1); i++)
        *VT_ADD(fit->rows, fit->row_count, fit->row_room) = (struct vt_fit_row){
            .memory = memory_beside(fit, memory),
            .conf = vt_strdup(count ? confs[i] : fit->settings),
            .recorded = !count || !strcmp(confs[i], fit->settings),
            .peak_reserved_bytes = VT_UNKNOWN,
            .peak_bytes = VT_UNKNOWN,
            .failed_at = VT_UNKNOWN,
            .missing_bytes = VT_UNKNOWN,
        };
}

/* The recorded device. Memory that other processes used at one moment may have been free at other moments, so it counts
 * only if the driver refused a request. */
static struct vt_fit_memory here(const struct vt_fit *fit) {
    const struct vt_process *p = fit->process;
    uint64_t total = fit->device->total_bytes, others = 0;
    if (fit->device->failed_count)
        others = vt_known(fit->device->other_processes_bytes);
    for (uint32_t i = 0; i < p->oom_count; i++)
        if (p->ooms[i].device == fit->device->ordinal && !p->ooms[i].unasked &&
            p->ooms[i].others_bytes != VT_UNKNOWN)
            others = p->ooms[i].others_bytes;
    return (struct vt_fit_memory){total, total == VT_UNKNOWN ? total : vt_beyond(total, others),
                                  .here = true};
}

/* Adds rows for the recorded device (as recorded, and with the given settings, or else with expandable segments), then
 * for usual cards. */
static void add_default_rows(struct vt_fit *fit, const struct vt_fit_options *options) {
    VT_SCOPED char *conf =
        vt_formatted("%s%sexpandable_segments:True", fit->settings, *fit->settings ? "," : "");
    add_rows(fit, NULL, 0, here(fit));
    for (uint32_t i = 0; i < options->conf_count; i++)
        if (strcmp(options->confs[i], fit->settings))
            add_rows(fit, &options->confs[i], 1, here(fit));
    if (!options->conf_count && fit->torch && !strstr(fit->settings, "expandable_segments:True"))
        add_rows(fit, &(const char *){conf}, 1, here(fit));
    for (const struct vt_fit_card *card = vt_fit_cards; card->name; card++)
        add_rows(fit, options->confs, options->conf_count,
                 (struct vt_fit_memory){card->bytes, card->usable_bytes, .card = card});
}

/* --- the model --- */

/* The rehearsals: the recorded run, the same run without a limit, then the rows. */
struct plan {
    struct vt_log log;
    struct vt_rehearsal_setup *setups;
    uint32_t count;
    struct vt_fit_sites sites;
};
enum { AS_RECORDED, WITHOUT_LIMIT, ROWS };

/* The driver's own share is subtracted, as the replay does not contain it. */
static struct vt_rehearsal_setup setup_of(const struct vt_fit *fit, struct vt_fit_memory memory,
                                          struct vt_cache_settings settings) {
    bool bounded = memory.usable_bytes != VT_UNKNOWN;
    return (struct vt_rehearsal_setup){
        settings,
        bounded ? vt_beyond(memory.usable_bytes, vt_known(fit->driver_bytes)) : UINT64_MAX,
        memory.bytes};
}

/* Returns 0, or -EINVAL with `message` if the model does not know some settings. */
static int make_plan(struct vt_fit *fit, struct plan *plan, struct vt_string *message) {
    struct vt_cache_settings recorded, settings;
    VT_SCOPED_STRING why = {0};
    if (!vt_cache_settings_read(fit->settings, &recorded, &why))
        fit->why = vt_formatted("the recorded setting %s", why.text);
    plan->count = ROWS + fit->row_count;
    plan->setups = vt_alloc(plan->count, sizeof *plan->setups);
    plan->setups[AS_RECORDED] = setup_of(fit, here(fit), recorded);
    plan->setups[WITHOUT_LIMIT] = setup_of(
        fit, (struct vt_fit_memory){.bytes = VT_UNKNOWN, .usable_bytes = VT_UNKNOWN}, recorded);
    for (uint32_t i = 0; i < fit->row_count; i++) {
        const struct vt_fit_row *row = &fit->rows[i];
        VT_SCOPED_STRING refused = {0};
        settings = recorded;
        if (!row->recorded && !vt_cache_settings_read(row->conf, &settings, &refused)) {
            vt_string_format(message, "--conf %.60s: %s", row->conf, refused.text);
            return -EINVAL;
        }
        plan->setups[ROWS + i] = setup_of(fit, row->memory, settings);
    }
    return 0;
}

/* Sets the innermost phase open at the failure, and its number among the phases of that name. */
static void find_phase(const struct vt_process *p, struct vt_fit_row *row) {
    for (uint32_t i = 0; i < p->phase_count && p->phases[i].start <= row->failed_at; i++)
        if (!p->phases[i].mark && p->phases[i].name && p->phases[i].end >= row->failed_at)
            row->phase = &p->phases[i];
    for (const struct vt_phase *phase = p->phases; row->phase && phase <= row->phase; phase++)
        row->phase_number += vt_same_text(phase->name, row->phase->name);
}

/* Sets the call site of a failed request, by its number: all replays of a log number their sites alike. */
static void find_site(const struct vt_fit *fit, const struct vt_replay *replay, uint32_t stack,
                      struct vt_fit_row *row) {
    const struct vt_process *p = fit->process;
    for (uint32_t i = 0; i < p->site_count && stack != VT_NO_STACK; i++)
        if (p->sites[i].layer == VT_LAYER_FRAMEWORK && p->sites[i].number < replay->site_count &&
            replay->sites[p->sites[i].number].stack == stack)
            row->site = &p->sites[i];
    row->stack = row->site ? row->site->stack : fit->oom ? fit->oom->stack : NULL;
}

static void set_row(const struct vt_fit *fit, const struct vt_replay *replay, struct vt_clock clock,
                    const struct vt_rehearsal_result *result, struct vt_fit_row *row) {
    bool died = fit->oom && !result->failed.happened;
    const struct vt_rehearsal_refusal *failed = died ? &result->refused : &result->failed;
    row->peak_reserved_bytes = result->peak_reserved;
    row->peak_bytes = result->peak_bytes + vt_known(fit->driver_bytes);
    row->fits = !failed->happened;
    if (row->fits)
        return;
    row->failed_at = vt_clock_ns(clock, failed->ticks);
    row->missing_bytes = failed->missing_bytes;
    find_site(fit, replay, failed->stack, row);
    find_phase(fit->process, row);
}

/* Whether the model reserved as much as PyTorch did. */
static void prove(struct vt_fit *fit, const struct vt_rehearsal_result *as_recorded) {
    double recorded = (double)fit->recorded_reserved_bytes;
    fit->model_reserved_bytes = as_recorded->peak_reserved;
    fit->deviation = ((double)fit->model_reserved_bytes - recorded) / recorded;
    if (fabs(fit->deviation) > 0.02 && !fit->why)
        fit->why = vt_formatted("the model is %.1f %% off", 100 * fabs(fit->deviation));
}

/* Replays the run, with sizes as recorded or scaled. */
static int rehearse(struct vt_fit *fit, const struct plan *plan, bool scaled,
                    struct vt_string *message) {
    const struct vt_fit_sites *sites = &plan->sites;
    struct vt_replay replay;
    struct vt_rehearsal *r = vt_rehearsal_open(fit->device->ordinal, plan->setups, plan->count);
    if (scaled)
        vt_rehearsal_scale(r, sites->factors, sites->count);
    else
        vt_rehearsal_watch_backward(r, sites->in_backward, sites->outlived, sites->count);
    int error = vt_replay_run(&plan->log, (struct vt_window){0, VT_TICKS_MASK},
                              (struct vt_replay_options){.rehearsal = r}, &replay, message);
    if (!error && !scaled)
        prove(fit, vt_rehearsal_result(r, AS_RECORDED));
    for (uint32_t i = 0; i < fit->row_count && !error && scaled == (fit->scale_count > 0); i++)
        set_row(fit, &replay, vt_clock_of(&plan->log), vt_rehearsal_result(r, ROWS + i),
                &fit->rows[i]);
    const struct vt_rehearsal_result *all = vt_rehearsal_result(r, WITHOUT_LIMIT);
    fit->reserved_bytes = all->peak_reserved;
    fit->outside_bytes = vt_beyond(all->peak_bytes, all->peak_reserved);
    fit->needs_bytes = all->peak_bytes + vt_known(fit->driver_bytes);
    vt_rehearsal_close(r);
    vt_replay_free(&replay);
    return error;
}

/* Fills the answer by the model, which first replays the run as recorded, for validation. */
static int fit_by_model(struct vt_fit *fit, const struct vt_fit_options *options,
                        struct vt_string *message) {
    struct plan plan = {.sites = vt_fit_sites_open(fit->process)};
    int error = make_plan(fit, &plan, message);
    if (!error)
        error = vt_log_open(fit->process->log, &plan.log, message);
    if (!error) {
        error = rehearse(fit, &plan, false, message);
        if (!error && options->scale_count)
            error = vt_fit_sites_scale(fit->process, fit->device->ordinal, options, &plan.sites,
                                       message);
        if (!error && options->scale_count)
            error = rehearse(fit, &plan, true, message);
        vt_log_close(&plan.log);
    }
    free(plan.setups);
    vt_fit_sites_close(&plan.sites);
    return error;
}

/* --- without PyTorch --- */

/* The bytes that rounding to the driver's pages adds at the peak, by each site's average size. The driver packs
 * allocations smaller than half a page. */
static uint64_t rounding(const struct vt_process *p, const struct vt_device *d) {
    const uint64_t page = 2 << 20;
    uint64_t waste = 0, small = 0;
    for (uint32_t i = 0; i < p->site_count; i++) {
        const struct vt_site *s = &p->sites[i];
        if (s->layer != VT_LAYER_DRIVER || s->device != d->ordinal || !s->alloc_count)
            continue;
        uint64_t size = s->allocated_bytes / s->alloc_count;
        if (size < page / 2)
            small += s->bytes_at_peak;
        else
            waste += s->bytes_at_peak / size * ((page - size % page) % page);
    }
    return waste + (page - small % page) % page;
}

/* Fills the answer by the peak of driver memory. */
static void fit_by_peak(struct vt_fit *fit) {
    const struct vt_device *d = fit->device;
    fit->outside_bytes = d->peak_bytes;
    fit->rounding_bytes = rounding(fit->process, d);
    fit->needs_bytes = d->peak_bytes + fit->rounding_bytes + vt_known(fit->driver_bytes);
    for (struct vt_fit_row *row = fit->rows; row < fit->rows + fit->row_count; row++) {
        row->peak_bytes = fit->needs_bytes;
        row->fits = fit->needs_bytes <= row->memory.usable_bytes;
        if (row->fits)
            continue;
        row->failed_at = d->peak_at_ns;
        row->missing_bytes = fit->needs_bytes - row->memory.usable_bytes;
        find_phase(fit->process, row);
    }
}

/* --- the answer --- */

/* Sets the range of the need, for logs that allow no definite answer. A compacted log has the peaks; if events are
 * missing, the real need may be higher than recorded. */
static void set_range(struct vt_fit *fit) {
    const struct vt_device *d = fit->device;
    uint64_t recorded = d->peak_bytes + vt_known(fit->driver_bytes);
    uint64_t idle = vt_beyond(vt_known(fit->recorded_reserved_bytes), d->blocks.peak_bytes);
    uint64_t other = fit->needs_bytes == VT_UNKNOWN ? vt_beyond(recorded, idle) : fit->needs_bytes;
    bool whole = vt_log_peak_is_exact(&fit->process->quality);
    fit->from_bytes = !whole ? d->sure_peak_bytes : other < recorded ? other : recorded;
    fit->to_bytes = !whole ? VT_UNKNOWN : other > recorded ? other : recorded;
}

int vt_fit_make(const struct vt_model *model, const struct vt_process *process,
                const struct vt_device *device, const struct vt_fit_options *options,
                struct vt_fit *fit, struct vt_string *message) {
    int error = 0;
    *fit = (struct vt_fit){.process = process,
                           .device = device,
                           .scales = options->scales,
                           .scale_count = options->scale_count};
    set_known(fit);
    find_sharers(fit, model);
    for (uint32_t i = 0; i < options->memory_count; i++)
        add_rows(fit, options->confs, options->conf_count, options->memory[i]);
    if (!options->memory_count)
        add_default_rows(fit, options);
    if (fit->row_count + ROWS > VT_REHEARSALS) {
        vt_string_format(message, "--memory and --conf: expected at most %u rows, found %u",
                         VT_REHEARSALS - ROWS, fit->row_count);
        error = -EINVAL;
    } else if (!fit->torch && (options->conf_count || options->scale_count)) {
        vt_string_format(
            message,
            "%s: --conf and --scale need PyTorch's allocator, which this run does not have",
            process->log);
        error = -EINVAL;
    } else if (fit->torch && !fit->why) {
        error = fit_by_model(fit, options, message);
    } else if (!fit->torch) {
        fit_by_peak(fit);
    }
    fit->sure = !fit->why;
    if (!fit->sure)
        set_range(fit);
    for (uint32_t i = fit->row_count; i-- > 0 && fit->sure;)
        if (fit->rows[i].memory.card && fit->rows[i].fits)
            fit->smallest = &fit->rows[i];
    return error;
}

void vt_fit_free(struct vt_fit *fit) {
    for (uint32_t i = 0; i < fit->row_count; i++)
        free(fit->rows[i].conf);
    free(fit->rows);
    free(fit->why);
    *fit = (struct vt_fit){0};
}
