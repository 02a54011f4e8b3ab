/* SPDX-License-Identifier: MIT */
/*
 * The report as JSON, schema vramtrace-report/1. Every key is always present, null if unknown;
 * bytes and nanoseconds are integers. Keys may be added, but never renamed.
 * The figures of a call site are rows of model/figures.def; doc/schema has all keys.
 */
#include "fmt_json.h"

#include "keys.h"
#include "base/base.h"

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

/* Those that are wanted, the first `top` of them. */
static void write_sites(struct vt_key_writer *w, const struct vt_format_options *options) {
    const struct vt_process *p = w->process;
    uint32_t written = 0;
    vt_json_open(w->json, "sites", '[');
    for (uint32_t i = 0; i < p->site_count && (!options->top || written < options->top); i++)
        if (vt_site_wanted(&p->sites[i], options->site))
            vt_keys_object(w, NULL, vt_site_keys, &p->sites[i], written++);
    vt_json_close(w->json, ']');
}

static void write_process(struct vt_json *j, const struct vt_process *p,
                          const struct vt_format_options *options) {
    struct vt_key_writer w = {.json = j, .process = p, .stacks = {.native = options->native}};
#define LIST(key, rows, items, count) vt_keys_list(&w, key, rows, items, count, sizeof *(items))
    vt_json_open(j, NULL, '{');
    header(j, p);
    LIST("devices", vt_device_more_keys, p->devices, p->device_count);
    vt_json_open(j, "environment", '{');
    for (uint32_t i = 0; i < p->variable_count; i++)
        vt_json_string(j, p->variables[i].name, p->variables[i].value);
    vt_json_close(j, '}');
    vt_keys_object(&w, "pinned_host", vt_apart_keys, &p->pinned, 0);
    vt_keys_object(&w, "managed", vt_apart_keys, &p->managed, 0);
    vt_json_part_inconclusive(j, vt_process_inconclusive(p));
    LIST("leaks", vt_leak_keys, p->leaks, p->leak_count);
    write_sites(&w, options);
    LIST("ooms", vt_oom_more_keys, p->ooms, p->oom_count);
    vt_json_number(j, "ooms_left_out", p->ooms_left_out);
    LIST("failed_allocations", vt_failed_keys, p->failed, p->failed_count);
    vt_json_number(j, "failed_allocation_count", p->failed_in_all);
    vt_fmt_json_snapshots(j, p);
    LIST("objects", vt_object_keys, p->objects, p->object_count);
    LIST("modules", vt_module_keys, p->modules, p->module_count);
    LIST("phases", vt_phase_more_keys, p->phases, p->phase_count);
    if (p->phase_sum_count)
        LIST("evicted_phases", vt_phase_sum_keys, p->phase_sums, p->phase_sum_count);
    if (p->evicted_sites)
        vt_json_number(j, "evicted_sites", p->evicted_sites);
    vt_keys_stacks(&w);
    vt_json_close(j, '}');
#undef LIST
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
