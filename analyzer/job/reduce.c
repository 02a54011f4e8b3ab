/* SPDX-License-Identifier: MIT */
/*
 * Reduces a process of the model to its rows in a job (see job.h): call sites of one line become one row, as do owners
 * that a report shows as one. All rows beyond the largest are summed in one row, so that a process's rows add up to its
 * total.
 */
#include "job.h"

#include "tables.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_COLUMNS = 200 };

/* --- the process --- */

static uint64_t identity(const struct vt_process *p) {
    const char *const texts[] = {p->host, p->boot, p->run_id};
    uint64_t id = vt_mix(p->pid + vt_mix(p->process_start)) + vt_mix(p->started_at);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        id = vt_hash_bytes(id + 1, texts[i] ? texts[i] : "", texts[i] ? strlen(texts[i]) : 0);
    return id;
}

static char *command_of(const struct vt_process *p) {
    struct vt_string s = {0};
    if (p->task)
        return vt_formatted("%s (child of pid %u)", p->task, p->ppid);
    for (uint32_t i = 0; i < p->command_count; i++)
        vt_string_format(&s, "%s%s", i ? " " : "", p->command[i]);
    return s.text ? s.text : vt_strdup(p->exe ? p->exe : "");
}

/* Whether a process has no owners at its end. Then they are from another moment: vt_process_snapshot_shown. */
static bool has_none_at_end(const struct vt_process *p) {
    const struct vt_snapshot *end = vt_process_snapshot(p);
    return end && end->why == VT_SNAPSHOT_END && !vt_snapshot_live_bytes(end);
}

static bool add_process(struct vt_job *f, const struct vt_process *p) {
    VT_SCOPED char *command = command_of(p);
    struct vt_job_process row = {
        .id = identity(p),
        .log = p->log,
        .run_id = p->run_id,
        .job = p->job,
        .command = command,
        .program = vt_process_program(p),
        .version = p->version,
        .host = vt_job_add_host(f, p->host, p->boot),
        .launch = p->launch,
        .rank = p->rank,
        .world_size = p->world_size,
        .launcher_restart = p->restart,
        .pid = p->pid,
        .ppid = p->ppid,
        .pid_namespace = p->pid_namespace,
        .process_start = p->process_start,
        .started_realtime = p->started_at,
        .started_monotonic = p->started_monotonic,
        .duration = p->duration,
        .ending = p->ending,
        .quality = p->quality,
        .simulated = p->simulated,
        .python = p->python,
        .none_at_end = has_none_at_end(p),
        .figures = vt_process_figures(p),
    };
    return vt_job_add_process(f, row);
}

static void add_devices(struct vt_job *f, const struct vt_process *p) {
    for (uint32_t i = 0; i < p->device_count; i++) {
        const struct vt_device *d = &p->devices[i];
        vt_job_add_row(f, VT_DEVICE_ROWS,
                       &(struct vt_job_device){.ordinal = d->ordinal,
                                               .uuid = d->uuid,
                                               .name = d->name,
                                               .layer = d->layer,
                                               .figures = d->figures,
                                               .reserved_bytes = d->fragmentation.reserved_bytes,
                                               .idle_bytes = d->fragmentation.free_bytes,
                                               .levels = vt_job_levels(&d->levels)});
    }
    struct vt_layer_figures host = p->pinned.layer;
    vt_layer_figures_add(&host, &p->managed.layer);
    host.peak_at_ns = VT_UNKNOWN;
    if (host.peak_bytes)
        vt_job_add_row(f, VT_DEVICE_ROWS,
                       &(struct vt_job_device){.ordinal = VT_DEVICE_HOST,
                                               .layer = host,
                                               .figures = vt_device_no_figures,
                                               .reserved_bytes = VT_UNKNOWN,
                                               .idle_bytes = VT_UNKNOWN});
}

/* --- lines --- */

static uint32_t line_of(struct vt_job *f, const struct vt_process *p, const struct vt_stack *stack,
                        unsigned layer, const char *api, bool segments, bool recycled) {
    const struct vt_frame *frame = stack ? vt_stack_main_frame(stack) : NULL;
    VT_SCOPED char *text = vt_stack_text(p, stack, TEXT_COLUMNS, false);
    VT_SCOPED char *function = frame ? vt_frame_text_function(frame) : NULL;
    uint32_t index = vt_job_add_line(
        f, (struct vt_job_line){.text = text,
                                .function = function,
                                .file = frame && frame->line ? frame->file : NULL,
                                .line = frame ? frame->line : 0,
                                .module = frame ? frame->module : NULL,
                                .layer = layer < VT_LAYER_UNKNOWN ? layer : VT_LAYER_UNKNOWN,
                                .api = api,
                                .segments = segments,
                                .recycled = recycled});
    return index;
}

static uint32_t line_of_site(struct vt_job *f, const struct vt_process *p,
                             const struct vt_site *site) {
    return line_of(f, p, site->stack, site->layer, site->api, site->segments, site->recycled);
}

/* The text of vt_stack_helper_caller; NULL: none. Free it. */
static char *caller_of(const struct vt_process *p, const struct vt_stack *stack) {
    const struct vt_frame *caller = vt_stack_helper_caller(stack);
    return caller ? vt_frame_text(p, caller, TEXT_COLUMNS) : NULL;
}

static void add_cell(struct vt_job_cell *to, const struct vt_job_cell *from) {
    to->verdict = from->verdict < to->verdict ? from->verdict : to->verdict;
    vt_site_figures_add(&to->figures, &from->figures);
}

/* A cell while its process is reduced. */
struct reduced {
    struct vt_job_cell cell;
    const struct vt_site *worst; /* the largest site with the worst verdict */
    uint64_t key;                /* the line's key, equal in all runs */
};

/* Cells by line and device. */
struct cells {
    struct reduced *cells;
    size_t count, room;
    struct vt_map by_key;
};

static struct reduced *cell_of(struct cells *c, uint32_t line, unsigned device) {
    uint64_t key = vt_mix(line * 256ull + (device & 255));
    uint32_t index = vt_map_get(&c->by_key, key);
    if (index == VT_MAP_NONE) {
        index = (uint32_t)c->count;
        vt_map_put(&c->by_key, key, index);
        VT_GROW(c->cells, c->count, c->room);
        c->cells[c->count++] = (struct reduced){.cell = {.line = line,
                                                         .device = device,
                                                         .verdict = VT_VERDICT_FREED,
                                                         .figures = vt_site_no_figures}};
    }
    return &c->cells[index];
}

static void add_site(struct reduced *to, const struct vt_site *site) {
    const struct vt_site *worst = to->worst;
    if (!worst || VT_ORDER({site->verdict, worst->verdict}, {worst->peak_bytes, site->peak_bytes},
                           {worst->allocated_bytes, site->allocated_bytes}) < 0)
        to->worst = site;
    add_cell(&to->cell, &(struct vt_job_cell){.verdict = site->verdict, .figures = site->figures});
}

static int compare_reduced(const void *a, const void *b) {
    const struct reduced *x = a, *y = b;
    return vt_job_compare_cells(&x->cell, x->key, &y->cell, y->key);
}

/* The line for the sum of all lines beyond VT_JOB_LINES, with the properties of `line`. */
static uint32_t rest_line(struct vt_job *f, uint32_t line) {
    return vt_job_add_line(f, (struct vt_job_line){.text = "other lines",
                                                   .layer = f->lines[line].layer,
                                                   .segments = f->lines[line].segments,
                                                   .rest = true});
}

static void keep_cell(struct vt_job *f, const struct vt_process *p, const struct reduced *from) {
    struct vt_job_cell row = from->cell;
    VT_SCOPED char *caller = from->worst ? caller_of(p, from->worst->stack) : NULL;
    row.caller = caller;
    vt_job_add_row(f, VT_CELL_ROWS, &row);
}

static void add_cells(struct vt_job *f, const struct vt_process *p) {
    struct cells all = {0}, rest = {0};
    for (uint32_t i = 0; i < p->site_count; i++)
        add_site(cell_of(&all, line_of_site(f, p, &p->sites[i]), p->sites[i].device), &p->sites[i]);
    for (size_t i = 0; i < all.count; i++)
        all.cells[i].key = f->lines[all.cells[i].cell.line].key;
    vt_sort(all.cells, all.count, sizeof *all.cells, compare_reduced);
    for (size_t i = 0; i < all.count; i++) {
        const struct vt_job_cell *cell = &all.cells[i].cell;
        if (i < VT_JOB_LINES)
            keep_cell(f, p, &all.cells[i]);
        else
            add_cell(&cell_of(&rest, rest_line(f, cell->line), cell->device)->cell, cell);
    }
    for (size_t i = 0; i < rest.count; i++)
        keep_cell(f, p, &rest.cells[i]);
    free(all.cells);
    free(rest.cells);
    vt_map_free(&all.by_key);
    vt_map_free(&rest.by_key);
}

/* --- owners --- */

static void add_owned(struct vt_job *f, const struct vt_snapshot *s,
                      const struct vt_job_owner *owner, uint64_t bytes, uint64_t count) {
    if (!count)
        return;
    vt_job_add_row(f, VT_OWNED_ROWS,
                   &(struct vt_job_owned){.owner = vt_job_add_owner(f, *owner),
                                          .bytes = bytes,
                                          .count = count,
                                          .at = s->at,
                                          .why = s->why});
}

static void add_owners(struct vt_job *f, const struct vt_process *p) {
    const struct vt_snapshot *s = vt_process_snapshot_shown(p);
    uint32_t count;
    uint64_t rest = 0, rest_count = 0;
    if (!s)
        return;
    VT_SCOPED struct vt_owner_group *groups = vt_owner_groups_seen(p, s, VT_UNKNOWN, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct vt_memory_owner *o = &groups[i].owner;
        if (i >= VT_JOB_OWNERS) {
            rest += groups[i].bytes;
            rest_count += groups[i].count;
            continue;
        }
        VT_SCOPED char *text = vt_owner_text(p, o, 0);
        struct vt_job_owner owner = {.text = text,
                                     .name = o->container ? o->container : o->name,
                                     .root = vt_root_names[o->root.kind],
                                     .module = o->root.module,
                                     .function = o->root.function,
                                     .file = o->root.file,
                                     .line = o->root.line,
                                     .purpose = vt_purpose_names[o->purpose]};
        add_owned(f, s, &owner, groups[i].bytes, groups[i].count);
    }
    add_owned(f, s, &(struct vt_job_owner){.text = "other owners", .rest = true}, rest, rest_count);
    add_owned(f, s, &(struct vt_job_owner){.text = "CUDA's libraries", .unowned = true},
              s->runtime_bytes, s->runtime_count);
    add_owned(f, s, &(struct vt_job_owner){.text = "no owner found", .unowned = true},
              s->unowned_bytes - s->runtime_bytes, s->unowned_count - s->runtime_count);
}

/* --- leaks and failures --- */

static void add_leaks(struct vt_job *f, const struct vt_process *p) {
    for (uint32_t i = 0; i < p->leak_count; i++) {
        const struct vt_leak *l = &p->leaks[i];
        const struct vt_growth *g = l->growth;
        if (!l->site_count)
            continue;
        const struct vt_site *largest = &p->sites[l->sites[0]];
        struct vt_amount amount = vt_amount_of_leak(p, l);
        struct vt_bound bound = {
            .entries = VT_UNKNOWN, .capacity = VT_UNKNOWN, .full_bytes = VT_UNKNOWN};
        vt_leak_bound(p, l, &bound);
        VT_SCOPED char *caller = caller_of(p, largest->stack);
        vt_job_add_row(
            f, VT_LEAK_ROWS,
            &(struct vt_job_leak){.line = line_of_site(f, p, largest),
                                  .verdict = l->verdict,
                                  .figures = l->figures,
                                  .bytes = amount.bytes,
                                  .count = amount.blocks,
                                  .per = g ? g->per : NULL,
                                  .bytes_per_iteration = g ? vt_growth_bytes(g) : VT_UNKNOWN,
                                  .iterations = g ? g->iterations : VT_UNKNOWN,
                                  .since = g ? g->since : VT_UNKNOWN,
                                  .full_in = g ? g->full_in : VT_UNKNOWN,
                                  .bound_entries = bound.entries,
                                  .bound_capacity = bound.capacity,
                                  .full_bytes = bound.full_bytes,
                                  .kept_by = l->kept_by,
                                  .why = l->why,
                                  .caller = caller});
    }
}

static void add_ooms(struct vt_job *f, const struct vt_process *p) {
    uint32_t first = p->oom_count > VT_JOB_OOMS ? p->oom_count - VT_JOB_OOMS : 0;
    for (uint32_t i = first; i < p->oom_count; i++) {
        const struct vt_oom *o = &p->ooms[i];
        bool known = o->stack && o->stack->count;
        uint32_t line =
            known ? line_of(f, p, o->stack, o->layer, o->api, false, false) : VT_JOB_NONE;
        VT_SCOPED char *caller = known ? caller_of(p, o->stack) : NULL;
        vt_job_add_row(f, VT_OOM_ROWS,
                       &(struct vt_job_oom){.line = line,
                                            .device = o->device,
                                            .at = o->at,
                                            .requested_bytes = o->requested_bytes,
                                            .free_bytes = o->free_bytes,
                                            .total_bytes = o->total_bytes,
                                            .tracked_bytes = o->tracked_bytes,
                                            .outcome = o->outcome,
                                            .cause = o->cause,
                                            .why = o->why,
                                            .caller = caller});
    }
}

bool vt_job_add(struct vt_job *f, const struct vt_process *p) {
    if (!add_process(f, p))
        return false;
    add_devices(f, p);
    add_cells(f, p);
    add_owners(f, p);
    add_leaks(f, p);
    add_ooms(f, p);
    return true;
}
