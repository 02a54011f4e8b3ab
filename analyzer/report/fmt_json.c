/* SPDX-License-Identifier: MIT */
/*
 * The report as JSON, schema vramtrace-report/1. Every key is always present, null if unknown;
 * bytes and nanoseconds are integers. Keys may be added, but never renamed.
 * The figures of a call site are rows of model/figures.def; doc/schema has all keys.
 */
#include "fmt_json.h"

#include "formats.h"
#include "stack_table.h"
#include "base/base.h"

#include "vramtrace/log_format.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- stacks --- */

void vt_fmt_json_frame(struct vt_json *j, const char *name, const struct vt_frame *f,
                       const char *file, bool stable) {
    if (!f) {
        vt_json_null(j, name);
        return;
    }
    vt_json_open_line(j, name, '{');
    vt_json_string(j, "function", f->function);
    vt_json_string(j, "file", file ? file : f->file);
    vt_json_number(j, "line", f->line ? f->line : VT_UNKNOWN);
    vt_json_string(j, "module", f->module);
    if (!stable)
        vt_json_number(j, "offset", f->offset);
    vt_json_string(j, "language", f->python ? "python" : "native");
    vt_json_boolean(j, "own", f->user_code);
    if (f->waiting)
        vt_json_boolean(j, "waiting", true); /* of the thread that called backward() */
    vt_json_close(j, '}');
}

/* What is written of a process. */
struct writer {
    struct vt_json *j;
    const struct vt_process *p;
    const struct vt_format_options *options;
    struct vt_stack_table stacks;
};

/* So many of a list write their stacks whole, and their sentences. A million sites have mostly the same
 * frames: written whole, 131,072 stacks made 1.6 GB of JSON, by number they make 0.1. */
enum { WHOLE = 1024 };

static void write_stack(struct writer *w, const struct vt_stack *s, bool whole) {
    struct vt_json *j = w->j;
    for (uint32_t i = 0; whole && vt_json_items(j, "stack", i, s->count); i++)
        if (w->options->native || !vt_stack_frame(s, i)->interpreter)
            vt_fmt_json_frame(j, NULL, vt_stack_frame(s, i), NULL, false);
    if (!whole)
        vt_json_null(j, "stack");
    vt_json_number(j, "stack_id", s->count ? vt_stack_table_add(&w->stacks, s) : VT_UNKNOWN);
    vt_json_boolean(j, "stack_cut", s->cut);
}

static void write_stack_table(struct writer *w) {
    struct vt_stack_table *t = &w->stacks;
    for (uint32_t i = 0; vt_json_items(w->j, "stacks", i, t->stack_count); i++)
        vt_stack_table_write(t, w->j, i);
    for (uint32_t i = 0; vt_json_items(w->j, "frames", i, t->frame_count); i++)
        vt_fmt_json_frame(w->j, NULL, t->frames[i], NULL, false);
    vt_stack_table_free(t);
}

/* --- a process --- */

static void header(struct vt_json *j, const struct vt_process *p) {
    vt_json_string(j, "log", p->log);
    vt_json_string(j, "run_id", p->run_id);
    vt_json_number(j, "pid", p->pid);
    vt_json_string(j, "host", p->host);
    vt_json_part_rank(j, "rank", p->rank);
    vt_json_part_rank(j, "local_rank", p->local_rank);
    vt_json_number(j, "world_size", p->world_size ? p->world_size : VT_UNKNOWN);
    if (p->restart)
        vt_json_number(j, "restart", p->restart);
    vt_json_string(j, "job", p->job);
    vt_json_strings(j, "command", p->command, p->command_count);
    vt_json_string(j, "task", p->task);
    vt_json_time(j, "started_at", p->started_at);
    vt_json_number(j, "duration_ns", p->duration);
    vt_json_boolean(j, "simulated", p->simulated);
    vt_json_string(j, "version", p->version);
    vt_json_part_ending(j, p->ending);
    vt_json_boolean(j, "complete", p->quality.complete);
    vt_json_number(j, "events", p->events);
    vt_json_number(j, "dropped_events", p->quality.missing);
    vt_json_number(j, "events_until_ns", p->events_until);
    vt_json_number(j, "compacted_until_ns", p->compacted_until);
    vt_json_strings(j, "notes", p->notes, p->note_count);
    if (vt_json_object(j, "window",
                       p->window_since != VT_UNKNOWN || p->window_until != VT_UNKNOWN)) {
        vt_json_number(j, "since_ns", p->window_since);
        vt_json_number(j, "until_ns", p->window_until);
        vt_json_close(j, '}');
    }
}

static void ratio(struct vt_json *j, double value) {
    if (value < 0) {
        vt_json_null(j, "ratio");
        return;
    }
    vt_json_key(j, "ratio");
    fprintf(j->out, "%.4f", value);
}

static void moment(struct vt_json *j, const char *name, const struct vt_moment *m) {
    uint64_t idle = m->reserved_bytes - m->in_use_bytes;
    if (!vt_json_object(j, name, m->at != VT_UNKNOWN))
        return;
    vt_json_number(j, "at_ns", m->at);
    vt_json_number(j, "reserved_bytes", m->reserved_bytes);
    vt_json_number(j, "in_use_bytes", m->in_use_bytes);
    vt_json_number(j, "free_bytes", idle);
    vt_json_number(j, "largest_free_bytes", m->largest_free_bytes);
    vt_json_number(j, "pinned_bytes", m->pinned_bytes);
    ratio(j, vt_fragmentation_ratio(idle, m->largest_free_bytes));
    vt_json_close(j, '}');
}

static const char *site_name(const struct vt_process *p, uint32_t index) {
    return index == VT_NO_SITE ? NULL : p->sites[index].name;
}

static void pins(struct vt_json *j, const struct vt_process *p, const struct vt_pin *pin,
                 uint32_t count) {
    for (uint32_t i = 0; vt_json_objects(j, "pins", i, count); i++) {
        vt_json_string(j, "site", site_name(p, pin[i].site));
        vt_json_number(j, "blocks", pin[i].blocks);
        vt_json_number(j, "block_bytes", pin[i].block_bytes);
        vt_json_number(j, "segments", pin[i].segments);
        vt_json_number(j, "pinned_bytes", pin[i].pinned_bytes);
    }
}

/* Segments with their pieces: [offset, bytes, site]; the site of an idle piece is null. */
static void segments(struct vt_json *j, const struct vt_process *p,
                     const struct vt_fragmentation *f) {
    for (uint32_t i = 0; vt_json_objects(j, "segments", i, f->segment_count); i++) {
        const struct vt_segment_map *s = &f->segments[i];
        vt_json_number(j, "address", s->address);
        vt_json_number(j, "bytes", s->bytes);
        vt_json_number(j, "in_use_bytes", s->in_use_bytes);
        vt_json_number(j, "largest_free_bytes", s->largest_free_bytes);
        vt_json_key(j, "pieces");
        fputc('[', j->out);
        for (uint32_t k = 0; k < s->count; k++) {
            const struct vt_piece *piece = &f->pieces[s->first + k];
            fprintf(j->out, "%s[%" PRIu64 ", %" PRIu64 ", ", k ? ", " : "", piece->offset,
                    piece->bytes);
            if (piece->idle)
                fputs("null]", j->out);
            else
                fprintf(j->out, "\"%s\"]",
                        piece->site == VT_NO_SITE ? "" : p->sites[piece->site].name);
        }
        fputc(']', j->out);
    }
    vt_json_number(j, "segments_left_out", f->segments_left_out);
}

static void fragmentation(struct vt_json *j, const struct vt_process *p,
                          const struct vt_fragmentation *f) {
    vt_json_open(j, "fragmentation", '{');
    vt_json_number(j, "reserved_bytes", f->reserved_bytes);
    vt_json_number(j, "in_use_bytes", f->in_use_bytes);
    vt_json_number(j, "free_bytes", f->free_bytes);
    vt_json_number(j, "largest_free_bytes", f->largest_free_bytes);
    ratio(j, f->ratio);
    moment(j, "last_request", &f->last);
    moment(j, "worst", &f->worst);
    for (uint32_t i = 0; vt_json_items(j, "history", i, f->moment_count); i++)
        moment(j, NULL, &f->moments[i]);
    pins(j, p, f->pins, f->pin_count);
    segments(j, p, f);
    vt_json_number(j, "granule_waste_estimate_bytes", f->granule_waste_bytes);
    vt_json_close(j, '}');
}

static void blocks(struct vt_json *j, const struct vt_device *d) {
    const struct vt_blocks *b = &d->blocks;
    if (!vt_json_object(j, "framework", d->has_blocks))
        return;
    vt_json_string(j, "name", b->name);
    vt_json_number(j, "live_bytes", b->live_bytes);
    vt_json_number(j, "live_count", b->live_count);
    vt_json_number(j, "peak_bytes", b->peak_bytes);
    vt_json_number(j, "peak_at_ns", b->peak_at);
    vt_json_number(j, "alloc_count", b->alloc_count);
    vt_json_number(j, "free_count", b->free_count);
    vt_json_number(j, "bytes_at_device_peak", b->at_peak_bytes);
    vt_json_number(j, "reserved_bytes", b->reserved_bytes);
    vt_json_number(j, "reserved_peak_bytes", b->reserved_peak_bytes);
    vt_json_open(j, "own_counters", '{');
    vt_json_number(j, "allocated_bytes", b->said_allocated);
    vt_json_number(j, "reserved_bytes", b->said_reserved);
    vt_json_number(j, "peak_allocated_bytes", b->said_peak_allocated);
    vt_json_number(j, "mismatches", b->said_apart);
    vt_json_close(j, '}');
    vt_json_close(j, '}');
}

static void untracked(struct vt_json *j, const struct vt_untracked *u) {
    vt_json_open(j, "untracked", '{');
    vt_json_number(j, "samples", u->samples);
    vt_json_number(j, "first_bytes", u->first_bytes);
    vt_json_number(j, "last_bytes", u->last_bytes);
    vt_json_number(j, "max_bytes", u->max_bytes);
    vt_json_number(j, "max_at_ns", u->max_at);
    vt_json_close(j, '}');
}

/* At the end of each of equal parts of the time, but the peak in its part. */
static void levels(struct vt_json *j, const struct vt_levels *l) {
    if (!vt_json_object(j, "levels", l->count))
        return;
    vt_json_number(j, "from_ns", l->from);
    vt_json_number(j, "to_ns", l->to);
    vt_json_key(j, "bytes");
    for (uint32_t i = 0; i < l->count; i++)
        fprintf(j->out, "%s%" PRIu64, i ? ", " : "[", l->bytes[i]);
    fputc(']', j->out);
    vt_json_close(j, '}');
}

static void device(struct vt_json *j, const struct vt_process *p, const struct vt_device *d) {
    vt_json_part_device(j, d);
    levels(j, &d->levels);
    vt_json_number(j, "allocated_bytes", d->allocated_bytes);
    vt_json_number(j, "driver_used_bytes", d->driver_used_bytes);
    vt_json_number(j, "untracked_bytes", d->untracked_bytes);
    vt_json_number(j, "other_processes_bytes", d->other_processes_bytes);
    vt_json_number(j, "driver_used_at_ns", d->driver_used_at);
    untracked(j, &d->untracked);
    fragmentation(j, p, &d->fragmentation);
    blocks(j, d);
    vt_fmt_json_purposes(j, p, d);
}

static void growth(struct vt_json *j, const struct vt_growth *g) {
    if (!vt_json_object(j, "growth", g))
        return;
    vt_json_string(j, "per", g->per);
    vt_json_number(j, "iterations", g->iterations);
    vt_json_number(j, "bytes_per_iteration", vt_growth_bytes(g));
    vt_json_number(j, "since_iteration", g->since_iteration);
    vt_json_number(j, "since_ns", g->since);
    vt_json_number(j, "full_in_iterations", g->full_in_iterations);
    vt_json_number(j, "full_in_ns", g->full_in);
    vt_json_string(j, "appends", g->operation);
    vt_json_close(j, '}');
}

static void site_figures(struct vt_json *j, const struct vt_site_figures *f) {
#define KEY(member, unit, merge, null, meaning) vt_json_number(j, #member, f->member);
    VT_SITE_FIGURES(KEY)
#undef KEY
}

static void leak(struct vt_json *j, const struct vt_process *p, const struct vt_leak *l) {
    struct vt_bound bound;
    const struct vt_frame *user_frame = l->stack->user_frame < l->stack->count
                                            ? vt_stack_frame(l->stack, l->stack->user_frame)
                                            : NULL;
    vt_json_string(j, "verdict", vt_verdict_names[l->verdict]);
    vt_json_string(j, "why", l->why);
    vt_json_string(j, "advice", l->advice);
    vt_json_part_fingerprint(j, vt_stack_key_of(&p->sites[l->sites[0]]));
    vt_json_null(j, "known"); /* the gate compares with earlier runs */
    site_figures(j, &l->figures);
    vt_fmt_json_frame(j, "own_frame", user_frame, NULL, false);
    for (uint32_t i = 0; vt_json_items(j, "sites", i, l->site_count); i++)
        vt_json_string(j, NULL, p->sites[l->sites[i]].name);
    growth(j, l->growth);
    vt_json_part_bound(j, vt_leak_bound(p, l, &bound) ? &bound : NULL);
    vt_fmt_json_owned(j, &l->owned);
    vt_json_string(j, "kept_by", l->kept_by);
}

/* What the pytest plugin said; the counts are of what is live at the end. */
static void tested(struct vt_json *j, const struct vt_tested *t) {
    if (!vt_json_object(j, "tested", t))
        return;
    vt_json_string(j, "fixture", t->fixture);
    vt_json_string(j, "scope", t->scope);
    vt_json_number(j, "fixture_bytes", t->fixture_bytes);
    vt_json_number(j, "fixture_count", t->fixture_count);
    vt_json_number(j, "models", t->models);
    vt_json_number(j, "models_bytes", t->models_bytes);
    vt_json_number(j, "models_count", t->models_count);
    vt_json_string(j, "test", t->test);
    vt_json_boolean(j, "fails", t->fails);
    vt_json_close(j, '}');
}

static void site(struct writer *w, const struct vt_site *s, bool whole) {
    struct vt_json *j = w->j;
    (whole ? vt_json_open : vt_json_open_line)(j, NULL, '{');
    vt_json_string(j, "site", s->name);
    vt_json_string(j, "verdict", vt_verdict_names[s->verdict]);
    vt_json_string(j, "why", whole ? s->why : NULL);
    vt_json_part_bound(j, s->bound);
    if (s->reachable == VT_REACHABLE_YES || s->reachable == VT_REACHABLE_NO)
        vt_json_boolean(j, "reachable", s->reachable == VT_REACHABLE_YES);
    else
        vt_json_null(j, "reachable");
    vt_json_string(j, "api", s->api);
    vt_json_boolean(j, "graph_memory", s->graph_memory); /* allocated by launches of CUDA graphs */
    VT_SCOPED char *node = vt_stack_text_node(s->stack);
    vt_json_string(j, "backward_of", node); /* the node of PyTorch's autograd graph that ran */
    vt_json_string(j, "layer", vt_layer_name(s->layer));
    vt_json_part_ordinal(j, "device", s->device);
    site_figures(j, &s->figures);
    vt_json_number(j, "first_at_ns", s->first_at);
    vt_json_number(j, "last_at_ns", s->last_at);
    vt_json_string(j, "class", s->layer == VT_LAYER_DRIVER ? vt_class_names[s->class] : NULL);
    vt_json_string(j, "class_name", s->class_name);
    vt_json_boolean(j, "before_window", s->before);
    vt_json_boolean(j, "segments", s->segments); /* memory in which framework blocks lie */
    vt_json_boolean(j, "unjudged", s->inconclusive != VT_RULE_NONE);
    tested(j, s->tested);
    vt_fmt_json_owned(j, &s->owned);
    write_stack(w, s->stack, whole);
    vt_json_close(j, '}');
}

static void oom(struct writer *w, const struct vt_oom *o, bool whole) {
    struct vt_json *j = w->j;
    const struct vt_process *p = w->p;
    vt_json_part_oom(j, o);
    vt_json_string(j, "api", o->api);
    vt_json_number(j, "total_bytes", o->total_bytes);
    vt_json_number(j, "tracked_bytes", o->tracked_bytes);
    vt_json_number(j, "cached_bytes", o->cached_bytes);
    vt_json_number(j, "largest_free_bytes", o->largest_free_bytes);
    vt_json_string(j, "advice", o->advice);
    for (uint32_t i = 0; vt_json_items(j, "holders", i, o->holder_count); i++)
        if (o->holders[i] != VT_NO_SITE)
            vt_json_string(j, NULL, p->sites[o->holders[i]].name);
    for (uint32_t i = 0; vt_json_items(j, "holder_bytes", i, o->holder_count); i++)
        if (o->holders[i] != VT_NO_SITE)
            vt_json_number(j, NULL, o->holder_bytes[i]);
    vt_json_string(j, "allocator", o->allocator);
    vt_json_number(j, "driver_requested_bytes", o->driver_requested_bytes);
    vt_json_number(j, "attempts", o->attempts);
    vt_json_number(j, "leaked_bytes", o->leaked_bytes);
    vt_json_string(j, "setting", o->setting);
    vt_json_number(j, "thread", o->thread);
    vt_json_number(j, "free_said_at_ns", o->free_said_at);
    vt_json_number(j, "other_processes_bytes", o->others_bytes);
    pins(j, p, o->pins, o->pin_count);
    write_stack(w, o->stack, whole);
}

static void failed(struct writer *w) {
    struct vt_json *j = w->j;
    const struct vt_process *p = w->p;
    for (uint32_t i = 0; vt_json_objects(j, "failed_allocations", i, p->failed_count); i++) {
        VT_SCOPED char *causes = vt_failed_causes(p, &p->failed[i]);
        vt_json_number(j, "at_ns", p->failed[i].at);
        vt_json_number(j, "count", p->failed[i].count);
        vt_json_number(j, "result", (uint64_t)p->failed[i].result);
        vt_json_string(j, "error", vt_failed_name(p->failed[i].result));
        vt_json_string(j, "causes", causes);
        vt_json_string(j, "api", p->failed[i].api);
        write_stack(w, p->failed[i].stack, i < WHOLE);
    }
}

static void modules(struct vt_json *j, const struct vt_process *p) {
    for (uint32_t i = 0; vt_json_objects(j, "modules", i, p->module_count); i++) {
        vt_json_string(j, "module", p->modules[i].path);
        vt_json_string(j, "build_id", p->modules[i].build_id);
    }
}

static void write_process(struct vt_json *j, const struct vt_process *p,
                          const struct vt_format_options *options) {
    struct writer w = {j, p, options, {.native = options->native}};
    vt_json_open(j, NULL, '{');
    header(j, p);
    for (uint32_t i = 0; vt_json_objects(j, "devices", i, p->device_count); i++)
        device(j, p, &p->devices[i]);
    vt_json_open(j, "environment", '{');
    for (uint32_t i = 0; i < p->variable_count; i++)
        vt_json_string(j, p->variables[i].name, p->variables[i].value);
    vt_json_close(j, '}');
    vt_json_part_apart(j, "pinned_host", &p->pinned);
    vt_json_part_apart(j, "managed", &p->managed);
    vt_json_part_inconclusive(j, vt_process_inconclusive(p));
    for (uint32_t i = 0; vt_json_objects(j, "leaks", i, p->leak_count); i++)
        leak(j, p, &p->leaks[i]);
    vt_json_open(j, "sites", '[');
    uint32_t written = 0;
    for (uint32_t i = 0; i < p->site_count && (!options->top || written < options->top); i++)
        if (vt_site_wanted(&p->sites[i], options->site)) {
            site(&w, &p->sites[i], written < WHOLE);
            written++;
        }
    vt_json_close(j, ']');
    for (uint32_t i = 0; vt_json_objects(j, "ooms", i, p->oom_count); i++)
        oom(&w, &p->ooms[i], i < WHOLE);
    vt_json_number(j, "ooms_left_out", p->ooms_left_out);
    failed(&w);
    vt_json_number(j, "failed_allocation_count", p->failed_in_all);
    vt_fmt_json_snapshots(j, p);
    for (uint32_t i = 0; vt_json_objects(j, "objects", i, p->object_count); i++) {
        const struct vt_object_life *o = &p->objects[i];
        vt_json_string(j, "kind", o->kind);
        vt_json_number(j, "created", o->created);
        vt_json_number(j, "destroyed", o->destroyed);
        vt_json_part_ordinal(j, "device", o->device);
        write_stack(&w, o->stack, i < WHOLE);
    }
    modules(j, p);
    for (uint32_t i = 0; vt_json_objects(j, "phases", i, p->phase_count); i++) {
        const struct vt_phase *f = &p->phases[i];
        vt_json_part_phase(j, f);
        vt_json_string(j, "domain", f->domain);
        vt_json_boolean(j, "mark", f->mark);
        vt_json_number(j, "end_ns", f->end);
        vt_json_number(j, "live_at_end", f->live_at_end);
        vt_json_number(j, "peak_bytes", f->peak_bytes);
    }
    for (uint32_t i = 0;
         p->phase_sum_count && vt_json_objects(j, "phases_let_go", i, p->phase_sum_count); i++) {
        const struct vt_phase_sum *sum = &p->phase_sums[i];
        vt_json_string(j, "name", sum->name);
        vt_json_boolean(j, "mark", sum->mark);
        vt_json_number(j, "count", sum->count);
        vt_json_number(j, "rose_bytes", sum->rose);
        vt_json_number(j, "fell_bytes", sum->fell);
    }
    if (p->sites_let_go)
        vt_json_number(j, "sites_let_go", p->sites_let_go);
    write_stack_table(&w);
    vt_json_close(j, '}');
}

/* All processes of the logs, one at a time. A log that is gone meanwhile is left out. */
static void each_apart(struct vt_json *j, const struct vt_model_logs *apart,
                       const struct vt_format_options *options) {
    for (uint32_t i = 0; i < apart->count; i++) {
        struct vt_model one;
        VT_SCOPED_STRING why = {0};
        if (apart->logs[i] &&
            !apart->builder->build(&apart->logs[i], 1, apart->options, &one, &why)) {
            write_process(j, &one.processes[0], options);
            apart->builder->free(&one);
        }
    }
}

int vt_fmt_json_write(const struct vt_model *model, const struct vt_format_options *options,
                      FILE *out) {
    struct vt_json j = {.out = out, .first = true};
    vt_json_open(&j, NULL, '{');
    vt_json_string(&j, "schema", "vramtrace-report/1");
    vt_json_open(&j, "processes", '[');
    if (model->apart)
        each_apart(&j, model->apart, options);
    for (uint32_t i = 0; i < model->process_count && !model->apart; i++)
        write_process(&j, &model->processes[i], options);
    vt_json_close(&j, ']');
    vt_fmt_json_ranks(&j, model->job);
    vt_json_close(&j, '}');
    fputc('\n', out);
    return 0;
}
