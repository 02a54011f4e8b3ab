/* SPDX-License-Identifier: MIT */
/*
 * Builds a process of the model from its log: reader -> replay -> sites with names -> verdicts. build_model.c builds
 * the model of several logs.
 */
#include "build_process.h"

#include "content/content.h"
#include "symbols/symbols.h"
#include "logfile/logfile.h"
#include "analysis/analysis.h"
#include "replay/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The parts of one log's process while it is built. */
struct build {
    const char *path;
    bool goes_on; /* the log stays open for the next model */
    struct vt_log log;
    struct vt_walk *walk; /* NULL: nothing was replayed yet */
    struct vt_replay replay;
    struct vt_history history;
    struct vt_pictures pictures;
    struct vt_sources from; /* the inputs of the analysis */
    struct vt_process *p;
    const struct vt_model_options *options;
};

/* --- sites, objects, devices --- */

static bool wanted(const struct build *b, unsigned device) {
    return b->options->device < 0 || device == (unsigned)b->options->device ||
           device == VT_DEVICE_HOST;
}

static void fill_site(const struct build *b, const struct vt_replay_site *from,
                      struct vt_site *site) {
    *site = (struct vt_site){
        .id = from->id,
        .number = (uint32_t)(from - b->replay.sites),
        .api = vt_hook_name(from->hook),
        .layer = from->layer,
        .device = from->device,
        .before = from->before,
        .figures = from->figures,
        .context_freed_by = from->context_freed_count ? vt_hook_name(from->context_end_hook) : NULL,
        .unrecorded_count = from->unrecorded_count,
        .mapped_count = from->mapped_count,
        .first_at = from->alloc_count ? vt_clock_ns(b->from.clock, from->first_ticks) : VT_UNKNOWN,
        .last_at = from->alloc_count ? vt_clock_ns(b->from.clock, from->last_ticks) : VT_UNKNOWN,
        .stack = vt_stacks_get(b->from.stacks, from->stack, vt_hook_is_runtime(from->hook)),
        .segments = from->segments,
        .graph_memory = from->graph && !from->other,
    };
    vt_site_figures_unfreed(&site->figures);
    vt_classes_judge(b->from.classes, b->p, from->pooled, from->segments_hook, site);
    snprintf(site->name, sizeof site->name, "%016llx", (unsigned long long)site->id);
}

static void fill_objects(struct build *b) {
    static const char *const kinds[] = {NULL, "context", "module", "graph", "graphics", "external"};
    struct vt_process *p = b->p;
    p->objects = vt_alloc(b->replay.object_count, sizeof *p->objects);
    for (size_t i = 0; i < b->replay.object_count; i++) {
        const struct vt_replay_object *from = &b->replay.objects[i];
        if (from->kind == 0 || from->kind >= sizeof kinds / sizeof *kinds ||
            !wanted(b, from->device))
            continue;
        p->objects[p->object_count++] = (struct vt_object_life){
            .kind = kinds[from->kind],
            .created = from->created == VT_TICKS_MASK ? VT_UNKNOWN
                                                      : vt_clock_ns(b->from.clock, from->created),
            .destroyed = from->destroyed == VT_TICKS_MASK
                             ? VT_UNKNOWN
                             : vt_clock_ns(b->from.clock, from->destroyed),
            .device = from->device,
            .stack = vt_stacks_get(b->from.stacks, from->stack, false),
        };
    }
}

static void fill_failed(struct build *b) {
    const struct vt_replay *r = &b->replay;
    b->p->failed = vt_alloc(r->error_count, sizeof *b->p->failed);
    b->p->failed_in_all = r->errors_in_all;
    b->p->nothing_allocated = r->error_count && !r->site_count && !b->p->quality.missing &&
                              b->p->window_since == VT_UNKNOWN;
    for (uint32_t i = 0; i < r->error_count; i++) {
        const struct vt_rec_fail *first = &r->errors[i].first;
        unsigned hook = vt_word_hook(first->word);
        b->p->failed[b->p->failed_count++] = (struct vt_failed){
            first->result, vt_hook_name(hook),
            vt_clock_ns(b->from.clock, vt_when_ticks(first->when)), r->errors[i].count,
            vt_stacks_get(b->from.stacks, r->errors[i].stack, vt_hook_is_runtime(hook))};
    }
}

/* Makes the stacks of sites, failures and objects first, so that the log's own stacks (up to a million) can be
 * freed. */
static void make_stacks(struct build *b) {
    for (size_t i = 0; i < b->replay.site_count; i++)
        if (wanted(b, b->replay.sites[i].device))
            vt_stacks_get(b->from.stacks, b->replay.sites[i].stack,
                          vt_hook_is_runtime(b->replay.sites[i].hook));
    fill_objects(b);
    fill_failed(b);
    if (!b->goes_on && !b->replay.fail_count) /* otherwise the log is replayed again */
        vt_log_drop_stacks(&b->log);
}

static int compare_sites(const void *a, const void *b) {
    const struct vt_replay_site *x = *(const struct vt_replay_site *const *)a;
    const struct vt_replay_site *y = *(const struct vt_replay_site *const *)b;
    return VT_ORDER(
        {y->live_bytes + y->context_freed_bytes, x->live_bytes + x->context_freed_bytes},
        {y->bytes_at_peak, x->bytes_at_peak}, {y->allocated_bytes, x->allocated_bytes},
        {y->id, x->id});
}

/* Fills the sites. Returns vt_sources.index; free it. */
static uint32_t *fill_sites(struct build *b) {
    struct vt_process *p = b->p;
    const struct vt_replay_site *sites = b->replay.sites;
    uint32_t *index = vt_alloc(b->replay.site_count, sizeof *index);
    VT_SCOPED const struct vt_replay_site **order = vt_alloc(b->replay.site_count, sizeof *order);
    for (size_t i = 0; i < b->replay.site_count; i++) {
        index[i] = VT_NO_SITE;
        if (wanted(b, sites[i].device))
            order[p->site_count++] = &sites[i];
    }
    vt_sort(order, p->site_count, sizeof *order, compare_sites);
    p->sites = vt_alloc(p->site_count, sizeof *p->sites);
    for (uint32_t i = 0; i < p->site_count; i++) {
        fill_site(b, order[i], &p->sites[i]);
        index[order[i] - sites] = i;
    }
    p->evicted_sites = b->replay.evicted_sites;
    p->task = vt_process_task(p);
    return index;
}

/* Copies the driver's figure from the program's last query. The figure covers all processes on the device;
 * vt_oom_others divides its untracked part. */
static void fill_driver_figures(const struct build *b, const struct vt_replay_device *from,
                                struct vt_device *device) {
    const struct vt_replay_info *info = &from->info;
    if (vt_untracked_fill(&b->from, device))
        return;
    if (!info->total_bytes)
        return;
    device->driver_used_bytes = info->total_bytes - info->free_bytes;
    device->driver_used_at_ns = vt_clock_ns(b->from.clock, info->ticks);
    if (device->total_bytes == VT_UNKNOWN)
        device->total_bytes = info->total_bytes;
    if (device->driver_used_bytes < info->tracked)
        return;
    uint64_t untracked = device->driver_used_bytes - info->tracked;
    uint64_t others = vt_oom_others(b->p, device->ordinal, device->driver_used_at_ns, untracked,
                                    info->total_bytes);
    if (others == 0 || b->p->simulated) {
        device->untracked_bytes = untracked - others;
        device->other_processes_bytes = b->p->simulated ? others : VT_UNKNOWN;
    }
}

static const char *blocks_name(const struct build *b, unsigned device) {
    for (size_t i = 0; i < b->replay.site_count; i++)
        if (b->replay.sites[i].layer == VT_LAYER_FRAMEWORK && b->replay.sites[i].device == device &&
            !b->replay.sites[i].before)
            return vt_classes_allocator(b->replay.sites[i].hook);
    return vt_classes_allocator(2000);
}

static struct vt_layer_figures layer_figures(const struct build *b,
                                             const struct vt_account *account) {
    struct vt_layer_figures figures = account->layer;
    figures.peak_at_ns =
        account->peak_bytes ? vt_clock_ns(b->from.clock, account->peak_ticks) : VT_UNKNOWN;
    return figures;
}

static void fill_blocks(const struct build *b, unsigned ordinal, struct vt_device *device) {
    const struct vt_replay_device *from = &b->replay.devices[ordinal];
    const struct vt_reserve_device *reserve = vt_segments_device(b->replay.segments, ordinal);
    device->has_blocks = from->framework.used || from->has_reported;
    device->blocks = (struct vt_blocks){
        .name = blocks_name(b, ordinal),
        .layer = layer_figures(b, &from->framework),
        .at_peak_bytes = from->blocks_at_peak,
        .reserved_bytes = reserve ? reserve->now.reserved_bytes : VT_UNKNOWN,
        .reserved_peak_bytes = reserve ? reserve->reserved_peak : VT_UNKNOWN,
        .reported_allocated = from->has_reported ? from->reported_allocated : VT_UNKNOWN,
        .reported_reserved = from->has_reported ? from->reported_reserved : VT_UNKNOWN,
        .reported_peak_allocated = from->has_reported ? from->reported_peak : VT_UNKNOWN,
        .mismatch_count = from->mismatch_count,
    };
}

static void fill_device(struct build *b, unsigned ordinal, const struct vt_log_device *known) {
    const struct vt_replay_device *from = &b->replay.devices[ordinal];
    struct vt_device *device = &b->p->devices[b->p->device_count++];
    *device = (struct vt_device){
        .ordinal = ordinal,
        .uuid = known && known->has_uuid ? vt_model_uuid(known->uuid) : NULL,
        .name = known && known->name[0] ? vt_strdup(known->name) : NULL,
        .layer = layer_figures(b, &from->driver),
        .figures = vt_device_no_figures,
        .sure_peak_bytes = from->driver.sure_peak,
    };
    if (known && known->total_bytes)
        device->total_bytes = known->total_bytes;
    device->levels = vt_slots_levels(&b->replay, b->from.clock, ordinal);
    fill_blocks(b, ordinal, device);
    fill_driver_figures(b, from, device);
    vt_fragmentation_measure(&b->from, device);
}

static void fill_devices(struct build *b) {
    const struct vt_replay *r = &b->replay;
    b->p->devices = vt_alloc(256, sizeof *b->p->devices);
    for (unsigned d = 0; d < 256; d++) {
        const struct vt_log_device *known = NULL;
        for (size_t i = 0; i < b->log.device_count; i++)
            if (b->log.devices[i].ordinal == d)
                known = &b->log.devices[i];
        if ((known || r->devices[d].driver.used || r->devices[d].framework.used) && wanted(b, d) &&
            d != VT_DEVICE_HOST)
            fill_device(b, d, known);
    }
    b->p->pinned.layer = layer_figures(b, &r->host);
    b->p->managed.layer = layer_figures(b, &r->managed);
}

/* --- variables --- */

static void fill_variables(struct build *b) {
    struct vt_process *p = b->p;
    p->variables = vt_alloc(b->log.variable_count, sizeof *p->variables);
    for (size_t i = 0; i < b->log.variable_count; i++)
        p->variables[p->variable_count++] = (struct vt_variable){
            vt_strdup(b->log.variables[i].name), vt_strdup(b->log.variables[i].value)};
}

/* Whoever wrote the log and its modules chose which source files and lines to show, so another user's choice is not
 * followed. */
static void set_source_user(struct build *b) {
    b->p->hides_source = !b->options->source && b->log.foreign;
    b->p->answers = b->log.answers;
    if (b->p->hides_source)
        vt_model_note(b->p, "The log belongs to another user: source lines are not shown (--source "
                            "shows them).");
}

static void close_run(struct build *b) {
    if (b->walk)
        vt_replay_close(b->walk);
    b->walk = NULL;
    vt_history_close(&b->history);
    vt_pictures_close(&b->pictures);
    vt_replay_free(&b->replay);
    vt_log_close(&b->log);
}

/* Opens the log. On error nothing stays open. */
static int open_run(struct build *b, const char *path, struct vt_string *message) {
    int error = b->goes_on && !b->options->once ? vt_log_open_to_follow(path, &b->log, message)
                                                : vt_log_open(path, &b->log, message);
    if (error)
        return error;
    b->path = path;
    b->from = (struct vt_sources){
        .log = &b->log, .replay = &b->replay, .history = &b->history, .device = b->options->device};
    return 0;
}

/* In a compacted log, a part of the run can be shown only if it begins after the summary. */
static int check_window(const struct build *b, struct vt_string *message) {
    const struct vt_window *window = &b->from.window;
    uint64_t until = b->log.until;
    if ((!window->since || window->since >= until) && window->until >= until)
        return 0;
    vt_string_format(
        message,
        "%s: the log was compacted, and its summary has all until %s as one: expected "
        "%s after that, found %s",
        b->path, VT_DURATION(vt_clock_ns(b->from.clock, until)),
        window->since ? "a begin" : "an end",
        VT_DURATION(vt_clock_ns(b->from.clock, window->since ? window->since : window->until)));
    return -EINVAL;
}

/* Fills the process's head, and finds the requested part of the run. */
static int fill_head(struct build *b, struct vt_string *message) {
    b->from.clock = vt_clock_of(&b->log);
    vt_build_head(&b->log, b->from.clock, b->path, b->p);
    int error = vt_window_find(&b->log, b->from.clock, b->options, b->p, &b->from.window, message);
    return error ? error : check_window(b, message);
}

static int open_walk(struct build *b, struct vt_string *message) {
    vt_history_open(&b->history, b->log.header.program_end);
    vt_pictures_open(&b->pictures, b->options->timeline, b->options->device);
    struct vt_replay_options options = {.history = &b->history,
                                        .pictures = b->options->timeline ? &b->pictures : NULL};
    b->walk = vt_replay_open(&b->log, b->from.window, options, &b->replay);
    return vt_replay_load(b->walk, message);
}

/* Replays the log so far, up to a time. */
static int replay_run(struct build *b, uint64_t until, struct vt_string *message) {
    int error = b->walk ? 0 : open_walk(b, message);
    if (!error)
        error = vt_replay_resume(b->walk, until, message);
    if (error)
        return error;
    vt_replay_finalize(b->walk);
    b->from.end = b->replay.slots.end;
    if (!b->goes_on) {
        vt_replay_close(b->walk);
        b->walk = NULL;
    }
    return 0;
}

/* Analyzes the replay's results, and writes the sentences. */
static void judge(struct build *b) {
    bool scanned = b->log.scan.word && b->p->window_until == VT_UNKNOWN;
    b->p->scan_bytes = scanned ? b->log.scan.bytes : VT_UNKNOWN;
    b->p->scan_ns = scanned ? b->log.scan.ns : VT_UNKNOWN;
    b->p->scan_unknown = scanned && b->log.scan.flags & VT_SCAN_BY_UNKNOWN;
    vt_analysis_blocks(&b->from, b->p);
    if (!b->goes_on)
        vt_replay_drop_live(&b->replay);
    vt_analysis_snapshots(&b->from, b->p);
    if (!b->goes_on)
        vt_owned_drop(&b->replay);
    vt_analysis_process(&b->from, b->p);
    vt_stacks_add_modules(b->from.stacks, b->p);
    set_source_user(b);
    vt_build_notes(&b->replay, b->options->since != NULL, b->p);
    vt_content_write(b->p);
}

/* Fills the process from the replay's results. */
static void fill_run(struct build *b, const struct vt_build_names *names, struct vt_built *built) {
    b->p->events = b->replay.events;
    built->symbols = b->log.answers ? vt_symbols_open(b->log.answers) : NULL;
    b->from.symbols = built->symbols ? built->symbols : names->symbols;
    b->from.classes = names->classes;
    b->from.stacks = built->stacks =
        vt_stacks_open(&b->log, b->from.symbols, b->options->user_code);
    fill_variables(b);
    make_stacks(b);
    VT_SCOPED uint32_t *index = fill_sites(b);
    b->from.index = index;
    fill_devices(b);
    b->from.names = built->owners = vt_owner_names_open(&b->log, b->from.symbols);
    vt_phase_list_add(&b->log, &b->replay, b->from.clock, b->from.window, b->p);
    judge(b);
    if (b->options->timeline)
        vt_draw_timeline(&b->from, &b->pictures, b->p);
}

/* A log may be compacted while it is read. Then the records may come from recycled chunks, so the log is read again
 * from the newer summary on. */
#define TRIES 20

static int read_again(struct build *b, unsigned *tries, struct vt_string *message) {
    if (!vt_summary_is_newer(&b->log))
        return 0;
    if (++*tries < TRIES)
        return 1;
    vt_string_format(message, "%s: expected a summary that stays, found a newer one each time",
                     b->path);
    return -EBUSY;
}

int vt_build_process(const char *path, const struct vt_model_options *options,
                     const struct vt_build_names *names, struct vt_built *built,
                     struct vt_string *message) {
    unsigned tries = 0;
    VT_SCOPED_RIGHTS rights = vt_rights_lower(path); /* a log names modules to open */
    if (rights < 0)
        return vt_rights_refuse(path, message);
    for (;;) {
        VT_SCOPED_STRING why = {0};
        struct build b = {.p = &built->process, .options = options};
        *built = (struct vt_built){0};
        int error = open_run(&b, path, message);
        if (error)
            return error;
        error = fill_head(&b, &why);
        if (!error)
            error = replay_run(&b, VT_TICKS_MASK, &why);
        int again = read_again(&b, &tries, &why);
        error = again ? again : error;
        if (!error)
            fill_run(&b, names, built);
        close_run(&b);
        if (error <= 0) {
            if (why.length)
                vt_string_add(message, why.text);
            return error;
        }
        vt_process_free(&built->process);
    }
}

/* --- a running process --- */

struct vt_follow {
    struct build b;
    struct vt_model_options options;
    char *path;
    bool looked, closed;
};

static int open_followed(struct vt_follow *f, struct vt_string *message) {
    f->b = (struct build){.options = &f->options, .goes_on = true};
    int error = open_run(&f->b, f->path, message);
    f->closed = error;
    f->looked = false;
    return error;
}

int vt_build_follow(const char *path, const struct vt_model_options *options,
                    struct vt_follow **follow, struct vt_string *message) {
    struct vt_follow *f = vt_alloc(1, sizeof *f);
    f->options = *options;
    f->path = vt_strdup(path);
    int error = open_followed(f, message);
    if (error) {
        free(f->path);
        free(f);
        f = NULL;
    }
    *follow = f;
    return error;
}

/* Discards the state: the next step reopens the log. */
static void close_followed(struct vt_follow *f) {
    if (!f->closed)
        close_run(&f->b);
    f->closed = true;
}

/* Reads the new records, starting from a newer summary if there is one. */
static int read_on(struct vt_follow *f, struct vt_string *message) {
    if (!f->closed && vt_summary_is_newer(&f->b.log))
        close_followed(f);
    int error = 0;
    if (f->closed)
        error = open_followed(f, message);
    else if (f->looked)
        error = vt_log_resume(&f->b.log, message);
    f->looked = true;
    return error;
}

static int step(struct vt_follow *f, uint64_t until, unsigned *tries, struct vt_string *message) {
    struct build *b = &f->b;
    int error = fill_head(b, message);
    if (error)
        return error;
    error = replay_run(b, vt_clock_ticks(b->from.clock, (double)until), message);
    int again = read_again(b, tries, message);
    if (error || again)
        close_followed(f);
    return again ? again : error;
}

static int go_on(struct vt_follow *f, uint64_t until, struct vt_process *p,
                 struct vt_string *message) {
    unsigned tries = 0;
    for (;;) {
        VT_SCOPED_STRING why = {0};
        int error = read_on(f, &why);
        f->b.p = p;
        if (!error)
            error = step(f, until, &tries, &why);
        if (error <= 0) {
            if (why.length)
                vt_string_add(message, why.text);
            return error;
        }
        vt_process_free(p);
        *p = (struct vt_process){0};
    }
}

int vt_build_go_on(struct vt_follow *f, uint64_t until, const struct vt_build_names *names,
                   struct vt_built *built, struct vt_string *message) {
    *built = (struct vt_built){0};
    int error = go_on(f, until, &built->process, message);
    if (!error)
        fill_run(&f->b, names, built);
    return error;
}

const struct vt_model_options *vt_build_options(const struct vt_follow *f) {
    return &f->options;
}

void vt_build_unfollow(struct vt_follow *f) {
    if (!f)
        return;
    close_followed(f);
    free(f->path);
    free(f);
}

void vt_build_process_free(struct vt_built *built) {
    vt_process_free(&built->process);
    vt_stacks_close(built->stacks);
    vt_owner_names_close(built->owners);
    vt_symbols_close(built->symbols);
    *built = (struct vt_built){0};
}
