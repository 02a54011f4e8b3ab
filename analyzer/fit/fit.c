/* SPDX-License-Identifier: MIT */
/*
 * What a run needs, and where it fits (see fit.h).
 *
 * What the process takes of a device is PyTorch's segments, by the model; what lies outside of them,
 * as recorded at each moment; and the driver's own share, as it was measured: it is in no log, so each
 * row has that much less. A program without PyTorch's allocator takes what it allocated, rounded up to
 * the driver's pages.
 */
#include "fit.h"

#include "log/log.h"
#include "replay/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GIB(n) ((uint64_t)((n) * (double)(1ull << 30)))

const struct vt_fit_card vt_fit_cards[] = {
#define VT_CARD(gib, usable) {#gib " GiB", GIB(gib), GIB(usable)},
#include "cards.def"
    {NULL, 0, 0},
};

enum { DRIVER_PAGE = 2 << 20 };

#define DEVIATION_MOST 0.02

bool vt_fit_deviation(const struct vt_fit *fit, double *deviation) {
    uint64_t recorded = fit->recorded_reserved_bytes, model = fit->model_reserved_bytes;
    if (recorded == VT_UNKNOWN || model == VT_UNKNOWN || !recorded)
        return false;
    *deviation = ((double)model - (double)recorded) / (double)recorded;
    return true;
}

uint64_t vt_fit_spare(const struct vt_fit_row *row) {
    return row->memory.usable_bytes == VT_UNKNOWN || row->peak_bytes == VT_UNKNOWN
               ? VT_UNKNOWN
               : vt_beyond(row->memory.usable_bytes, row->peak_bytes);
}

/* --- what is known --- */

/* Why events are missing, so that there is no yes or no. NULL: they are all there. */
static char *missing_events(const struct vt_process *p) {
    if (p->compacted_until)
        return vt_formatted("the log was compacted: single events before %s are gone",
                            VT_DURATION(p->compacted_until));
    if (p->events_until != VT_UNKNOWN)
        return vt_formatted("single events end at %s: the log reached its bound",
                            VT_DURATION(p->events_until));
    if (p->dropped_events)
        return vt_formatted("%s event%s could not be recorded", VT_NUMBER(p->dropped_events),
                            vt_plural(p->dropped_events));
    return p->gaps ? vt_strdup("the log is cut off or damaged") : NULL;
}

/* What the driver's pages add to plain allocations at the peak, by each site's average. The driver puts
 * those of less than half a page side by side. */
static uint64_t rounding(const struct vt_process *p, const struct vt_device *d) {
    uint64_t waste = 0, small = 0;
    for (uint32_t i = 0; i < p->site_count; i++) {
        const struct vt_site *s = &p->sites[i];
        if (s->layer != VT_LAYER_DRIVER || s->device != d->ordinal || !s->alloc_count)
            continue;
        uint64_t size = s->allocated_bytes / s->alloc_count;
        if (size < DRIVER_PAGE / 2)
            small += s->bytes_at_peak;
        else
            waste += s->bytes_at_peak / size * ((DRIVER_PAGE - size % DRIVER_PAGE) % DRIVER_PAGE);
    }
    return waste + (DRIVER_PAGE - small % DRIVER_PAGE) % DRIVER_PAGE;
}

static void take_known(struct vt_fit *fit) {
    const struct vt_process *p = fit->process;
    const struct vt_device *d = fit->device;
    fit->torch = d->has_blocks && !strcmp(d->blocks.name, "PyTorch") &&
                 d->blocks.reserved_peak_bytes != VT_UNKNOWN;
    fit->settings = vt_replay_torch_settings(p->variables, p->variable_count, &(const char *){0});
    fit->recorded_reserved_bytes = fit->torch ? d->blocks.reserved_peak_bytes : VT_UNKNOWN;
    fit->model_reserved_bytes = fit->from_bytes = fit->to_bytes = VT_UNKNOWN;
    fit->driver_bytes = p->simulated ? VT_UNKNOWN : d->untracked_bytes;
    fit->others_bytes = vt_known(d->other_processes_bytes);
    fit->why = missing_events(p);
    fit->oom = vt_process_oom(p);
    if (fit->oom && (vt_ended_well(p->ending) || fit->oom->outcome == VT_OOM_RECOVERED ||
                     fit->oom->device != d->ordinal))
        fit->oom = NULL;
}

/* --- the rows --- */

/* Adds a row for each of the settings. */
static void add_rows(struct vt_fit *fit, const struct vt_fit_wishes *wishes,
                     struct vt_fit_memory memory) {
    for (uint32_t i = 0; i < (wishes->conf_count ? wishes->conf_count : 1); i++)
        *VT_ADD(fit->rows, fit->row_count, fit->row_room) = (struct vt_fit_row){
            .memory = memory,
            .conf = vt_strdup(wishes->conf_count ? wishes->confs[i] : fit->settings),
            .recorded = !wishes->conf_count,
        };
}

/* The recorded device, with what others had of it left to them; without the program's settings, too, and
 * with expandable segments. */
static void add_recorded_device(struct vt_fit *fit, const struct vt_fit_wishes *wishes) {
    struct vt_cache_settings settings;
    uint64_t total = fit->device->total_bytes;
    struct vt_fit_memory here = {
        .bytes = total,
        .usable_bytes = total == VT_UNKNOWN ? total : vt_beyond(total, fit->others_bytes),
        .here = true,
    };
    add_rows(fit, &(struct vt_fit_wishes){0}, here);
    if (wishes->conf_count)
        add_rows(fit, wishes, here);
    else if (fit->torch && vt_cache_settings_read(fit->settings, &settings, NULL) &&
             !settings.expandable) {
        VT_SCOPED char *conf =
            vt_formatted("%s%sexpandable_segments:True", fit->settings, *fit->settings ? "," : "");
        add_rows(fit, &(struct vt_fit_wishes){.confs = &(const char *){conf}, .conf_count = 1},
                 here);
    }
}

static void choose_rows(struct vt_fit *fit, const struct vt_fit_wishes *wishes) {
    for (uint32_t i = 0; i < wishes->memory_count; i++)
        add_rows(fit, wishes, wishes->memory[i]);
    if (wishes->memory_count)
        return;
    add_recorded_device(fit, wishes);
    for (const struct vt_fit_card *card = vt_fit_cards; card->name; card++)
        add_rows(fit, wishes,
                 (struct vt_fit_memory){
                     .bytes = card->bytes, .usable_bytes = card->usable_bytes, .card = card});
}

/* --- the model --- */

/* The log, opened once more, and what is rehearsed of it. */
struct rehearsal {
    struct vt_fit *fit;
    struct vt_log log;
    struct vt_clock clock;
    struct vt_rehearsal_wish
        *wishes; /* the recorded run, the same without a limit, then the rows */
    uint32_t count;
    double *factors;
    uint32_t factor_count;
};
enum { AS_RECORDED, WITHOUT_LIMIT, ROWS };

/* What is left for the process beside the driver's own share. */
static uint64_t limit_of(const struct vt_fit *fit, uint64_t usable) {
    return usable == VT_UNKNOWN ? usable : vt_beyond(usable, vt_known(fit->driver_bytes));
}

/* Returns 0, or -EINVAL with `message`: settings that the model does not know. */
static int take_wishes(struct rehearsal *r, struct vt_string *message) {
    struct vt_fit *fit = r->fit;
    uint64_t total = fit->device->total_bytes;
    struct vt_cache_settings recorded;
    VT_SCOPED_STRING refused = {0};
    if (!vt_cache_settings_read(fit->settings, &recorded, &refused) && !fit->why)
        fit->why = vt_formatted("the recorded setting %s", refused.text);
    r->count = ROWS + fit->row_count;
    r->wishes = vt_alloc(r->count, sizeof *r->wishes);
    r->wishes[WITHOUT_LIMIT] = (struct vt_rehearsal_wish){recorded, UINT64_MAX, UINT64_MAX};
    r->wishes[AS_RECORDED] = (struct vt_rehearsal_wish){
        recorded, limit_of(fit, total == VT_UNKNOWN ? total : vt_beyond(total, fit->others_bytes)),
        total};
    for (uint32_t i = 0; i < fit->row_count; i++) {
        const struct vt_fit_row *row = &fit->rows[i];
        struct vt_rehearsal_wish *wish = &r->wishes[ROWS + i];
        VT_SCOPED_STRING why = {0};
        *wish = (struct vt_rehearsal_wish){recorded, limit_of(fit, row->memory.usable_bytes),
                                           row->memory.bytes};
        if (row->recorded || vt_cache_settings_read(row->conf, &wish->settings, &why))
            continue;
        vt_string_format(message, "--conf %s: %s", row->conf, why.text);
        return -EINVAL;
    }
    return 0;
}

static int replay(struct rehearsal *r, const double *factors, struct vt_rehearsal **rehearsal,
                  struct vt_replay *replay, struct vt_string *message) {
    *rehearsal = vt_rehearsal_open(r->fit->device->ordinal, r->wishes, r->count);
    if (factors)
        vt_rehearsal_scale(*rehearsal, factors, r->factor_count);
    int error = vt_replay_run(&r->log, (struct vt_window){0, VT_TICKS_MASK},
                              (struct vt_replay_wishes){.rehearsal = *rehearsal}, replay, message);
    if (error)
        vt_string_free(message);
    return error;
}

/* --- what came of it --- */

/* The phase that was open, the innermost, and its number among those of its name. */
static void find_phase(const struct vt_process *p, struct vt_fit_row *row) {
    for (uint32_t i = 0; i < p->phase_count && p->phases[i].start <= row->failed_at; i++)
        if (!p->phases[i].mark && p->phases[i].name && p->phases[i].end >= row->failed_at)
            row->phase = &p->phases[i];
    for (const struct vt_phase *phase = p->phases; row->phase && phase <= row->phase; phase++)
        row->phase_number += vt_same_text(phase->name, row->phase->name);
}

/* The call site of a request of the rehearsal. */
static const struct vt_site *find_site(const struct vt_fit *fit, const struct vt_replay *replay,
                                       uint32_t stack) {
    const struct vt_process *p = fit->process;
    uint64_t id = 0;
    for (size_t i = 0; i < replay->site_count && stack != VT_NO_STACK; i++)
        if (replay->sites[i].stack == stack && replay->sites[i].device == fit->device->ordinal &&
            (!id || replay->sites[i].layer == VT_LAYER_FRAMEWORK))
            id = replay->sites[i].id;
    for (uint32_t i = 0; i < p->site_count && id; i++)
        if (p->sites[i].id == id)
            return &p->sites[i];
    return NULL;
}

static void take_row(const struct rehearsal *r, const struct vt_replay *replay,
                     const struct vt_rehearsal_result *result, struct vt_fit_row *row) {
    const struct vt_fit *fit = r->fit;
    bool died = fit->oom && !result->failed.happened;
    const struct vt_rehearsal_refusal *failed = died ? &result->refused : &result->failed;
    row->peak_reserved_bytes = result->peak_reserved;
    row->peak_bytes = result->peak_bytes + vt_known(fit->driver_bytes);
    row->fits = failed->happened ? VT_FIT_NO : VT_FIT_YES;
    if (!failed->happened)
        return;
    row->failed_at = vt_clock_ns(r->clock, failed->ticks);
    row->missing_bytes = failed->missing_bytes;
    row->site = find_site(fit, replay, failed->stack);
    row->stack = row->site ? row->site->stack : died ? fit->oom->stack : NULL;
    find_phase(fit->process, row);
}

static void take_needs(struct vt_fit *fit, const struct vt_rehearsal_result *result) {
    fit->reserved_bytes = result->peak_reserved;
    fit->outside_bytes = vt_beyond(result->peak_bytes, fit->reserved_bytes);
    fit->needs_bytes = result->peak_bytes + vt_known(fit->driver_bytes);
}

/* Where no yes or no can be given: what is known for certain was needed. */
static void take_range(struct vt_fit *fit) {
    const struct vt_device *d = fit->device;
    uint64_t recorded = d->peak_bytes + vt_known(fit->driver_bytes) + fit->rounding_bytes;
    if (fit->process->compacted_until && fit->process->events_until == VT_UNKNOWN &&
        !fit->process->dropped_events) {
        fit->from_bytes =
            recorded - vt_beyond(vt_known(fit->recorded_reserved_bytes), d->blocks.peak_bytes);
        fit->to_bytes = recorded;
    } else if (missing_events(fit->process)) {
        fit->from_bytes = d->sure_peak_bytes + vt_known(fit->driver_bytes);
    } else {
        fit->from_bytes = fit->needs_bytes < recorded ? fit->needs_bytes : recorded;
        fit->to_bytes = fit->needs_bytes < recorded ? recorded : fit->needs_bytes;
    }
    for (uint32_t i = 0; i < fit->row_count; i++)
        fit->rows[i].fits = VT_FIT_UNKNOWN;
}

/* Whether the model reserved what PyTorch did. */
static void prove(struct vt_fit *fit, const struct vt_rehearsal_result *as_recorded) {
    double deviation;
    fit->model_reserved_bytes = as_recorded->peak_reserved;
    if (vt_fit_deviation(fit, &deviation) && !fit->why &&
        (deviation > DEVIATION_MOST || deviation < -DEVIATION_MOST))
        fit->why = vt_formatted("the model is %.1f %% off", 100 * deviation);
}

static void find_smallest(struct vt_fit *fit) {
    for (uint32_t i = fit->row_count; i-- > 0;)
        if (fit->rows[i].memory.card && fit->rows[i].fits == VT_FIT_YES)
            fit->smallest = fit->rows[i].memory.card;
}

/* Replays the run, and once more where sizes are scaled. */
static int rehearse(struct rehearsal *r, struct vt_string *message) {
    struct vt_fit *fit = r->fit;
    struct vt_rehearsal *rehearsal;
    struct vt_replay books;
    r->clock = vt_clock_of(&r->log);
    int error = replay(r, NULL, &rehearsal, &books, message);
    if (!error)
        prove(fit, vt_rehearsal_result(rehearsal, AS_RECORDED));
    if (!error && r->factors) {
        vt_rehearsal_close(rehearsal);
        vt_replay_free(&books);
        error = replay(r, r->factors, &rehearsal, &books, message);
    }
    if (!error) {
        take_needs(fit, vt_rehearsal_result(rehearsal, WITHOUT_LIMIT));
        for (uint32_t i = 0; i < fit->row_count; i++)
            take_row(r, &books, vt_rehearsal_result(rehearsal, ROWS + i), &fit->rows[i]);
    }
    vt_rehearsal_close(rehearsal);
    vt_replay_free(&books);
    return error;
}

static int open_and_rehearse(struct vt_fit *fit, const struct vt_fit_wishes *wishes,
                             struct vt_string *message) {
    struct rehearsal r = {.fit = fit};
    int error = take_wishes(&r, message);
    if (!error && wishes->scale_count)
        error = vt_fit_factors(fit->process, fit->device->ordinal, wishes->scales,
                               wishes->scale_count, &r.factors, &r.factor_count, message);
    if (!error)
        error = vt_log_open(fit->process->log, &r.log, message);
    if (!error) {
        error = rehearse(&r, message);
        vt_log_close(&r.log);
    }
    free(r.wishes);
    free(r.factors);
    return error;
}

/* Without PyTorch the rows are by what was allocated from the driver, at its most. */
static void take_plain(struct vt_fit *fit) {
    const struct vt_device *d = fit->device;
    fit->outside_bytes = d->peak_bytes;
    fit->rounding_bytes = rounding(fit->process, d);
    fit->needs_bytes = d->peak_bytes + fit->rounding_bytes + vt_known(fit->driver_bytes);
    for (uint32_t i = 0; i < fit->row_count; i++) {
        struct vt_fit_row *row = &fit->rows[i];
        row->peak_bytes = fit->needs_bytes;
        row->fits = fit->needs_bytes <= row->memory.usable_bytes ? VT_FIT_YES : VT_FIT_NO;
        if (row->fits == VT_FIT_YES)
            continue;
        row->failed_at = d->peak_at;
        row->missing_bytes = fit->needs_bytes - row->memory.usable_bytes;
        find_phase(fit->process, row);
    }
}

int vt_fit_make(const struct vt_process *process, const struct vt_device *device,
                const struct vt_fit_wishes *wishes, struct vt_fit *fit, struct vt_string *message) {
    int error = 0;
    *fit = (struct vt_fit){.process = process,
                           .device = device,
                           .scales = wishes->scales,
                           .scale_count = wishes->scale_count};
    take_known(fit);
    choose_rows(fit, wishes);
    for (uint32_t i = 0; i < fit->row_count; i++)
        fit->rows[i].peak_reserved_bytes = fit->rows[i].peak_bytes = fit->rows[i].failed_at =
            fit->rows[i].missing_bytes = VT_UNKNOWN;
    if (fit->torch && !fit->why) {
        error = open_and_rehearse(fit, wishes, message);
    } else if (!fit->torch && (wishes->conf_count || wishes->scale_count)) {
        vt_string_format(message,
                         "%s: has no PyTorch allocator, which --conf and --scale are about",
                         process->log);
        error = -EINVAL;
    } else if (!fit->why) {
        take_plain(fit);
    }
    fit->sure = !fit->why;
    if (!error && fit->sure)
        find_smallest(fit);
    else if (!error)
        take_range(fit);
    return error;
}

void vt_fit_free(struct vt_fit *fit) {
    for (uint32_t i = 0; i < fit->row_count; i++)
        free(fit->rows[i].conf);
    free(fit->rows);
    free(fit->why);
    *fit = (struct vt_fit){0};
}
