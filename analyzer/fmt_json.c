/* SPDX-License-Identifier: MIT */
/*
 * The report as JSON, schema vramtrace-report/1: every key always there, null for what is not
 * known, integers for bytes and nanoseconds, valid UTF-8 whatever the file names were. Keys may be
 * added, never renamed.
 */
#include "formats.h"

#include "vramtrace/log_format.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

/* A JSON writer: keeps count of what needs a comma. */
struct json {
    FILE *out;
    unsigned depth;
    bool first; /* nothing stands yet in what is open */
};

static void text(struct json *j, const char *s, size_t length) {
    fputc('"', j->out);
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)s[i];
        unsigned bytes = vt_utf8_length(s + i, length - i);
        if (!bytes) {
            fputs("\\ufffd", j->out);
            i++;
            continue;
        }
        if (c == '"' || c == '\\')
            fprintf(j->out, "\\%c", c);
        else if (c == '\n')
            fputs("\\n", j->out);
        else if (c == '\t')
            fputs("\\t", j->out);
        else if (c < 0x20 || c == 0x7f)
            fprintf(j->out, "\\u%04x", c);
        else
            fwrite(s + i, 1, bytes, j->out);
        i += bytes;
    }
    fputc('"', j->out);
}

/* The comma, the new line, and the key (NULL in an array). */
static void key(struct json *j, const char *name) {
    if (!j->first)
        fputc(',', j->out);
    j->first = false;
    if (j->depth)
        fprintf(j->out, "\n%*s", (int)j->depth, "");
    if (name)
        fprintf(j->out, "\"%s\": ", name);
}

static void open(struct json *j, const char *name, char bracket) {
    key(j, name);
    fputc(bracket, j->out);
    j->depth++;
    j->first = true;
}

static void close(struct json *j, char bracket) {
    j->depth--;
    if (!j->first)
        fprintf(j->out, "\n%*s", (int)j->depth, "");
    fputc(bracket, j->out);
    j->first = false;
}

static void null(struct json *j, const char *name) {
    key(j, name);
    fputs("null", j->out);
}

static void string(struct json *j, const char *name, const char *value) {
    if (!value) {
        null(j, name);
        return;
    }
    key(j, name);
    text(j, value, strlen(value));
}

static void number(struct json *j, const char *name, uint64_t value) {
    if (value == VT_UNKNOWN) {
        null(j, name);
        return;
    }
    key(j, name);
    fprintf(j->out, "%" PRIu64, value);
}

static void boolean(struct json *j, const char *name, bool value) {
    key(j, name);
    fputs(value ? "true" : "false", j->out);
}

static void device_number(struct json *j, const char *name, unsigned device) {
    number(j, name, device >= VT_DEVICE_HOST ? VT_UNKNOWN : device);
}

/* -----------------------------------------------------------------------------------------------------
 * stacks -- */

static void frame(struct json *j, const char *name, const struct vt_frame *f) {
    open(j, name, '{');
    string(j, "function", f->function);
    string(j, "file", f->file);
    number(j, "line", f->line ? f->line : VT_UNKNOWN);
    string(j, "module", f->module);
    number(j, "offset", f->offset);
    string(j, "language", f->python ? "python" : "native");
    boolean(j, "own", f->own);
    close(j, '}');
}

static void stack(struct json *j, const struct vt_stack *s, bool native) {
    open(j, "stack", '[');
    for (uint32_t i = 0; i < s->count; i++)
        if (native || !s->frames[i].interpreter)
            frame(j, NULL, &s->frames[i]);
    close(j, ']');
    boolean(j, "stack_cut", s->cut);
}

/* ----------------------------------------------------------------------------------------------------
 * a process -- */

static void started_at(struct json *j, uint64_t ns) {
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm tm;
    char date[64] = "", whole[96];
    if (!ns || !gmtime_r(&seconds, &tm) || !strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm)) {
        null(j, "started_at");
        return;
    }
    snprintf(whole, sizeof whole, "%s.%03uZ", date, (unsigned)(ns / 1000000 % 1000));
    string(j, "started_at", whole);
}

static void header(struct json *j, const struct vt_process *p) {
    string(j, "log", p->log);
    string(j, "run_id", p->run_id);
    number(j, "pid", p->pid);
    string(j, "host", p->host);
    number(j, "rank", p->rank < 0 ? VT_UNKNOWN : (uint64_t)p->rank);
    string(j, "job", p->job);
    open(j, "command", '[');
    for (uint32_t i = 0; i < p->command_count; i++)
        string(j, NULL, p->command[i]);
    close(j, ']');
    started_at(j, p->started_at);
    number(j, "duration_ns", p->duration);
    boolean(j, "simulated", p->simulated);
    string(j, "version", p->version);
    open(j, "exit", '{');
    string(j, "kind", p->exit_kind);
    if (p->exit_status == VT_NO_STATUS) {
        null(j, "status");
    } else {
        key(j, "status");
        fprintf(j->out, "%d", p->exit_status);
    }
    close(j, '}');
    boolean(j, "complete", p->complete);
    number(j, "events", p->events);
    number(j, "dropped_events", p->dropped_events);
    open(j, "notes", '[');
    for (uint32_t i = 0; i < p->note_count; i++)
        string(j, NULL, p->notes[i]);
    close(j, ']');
    if (p->window_since == VT_UNKNOWN && p->window_until == VT_UNKNOWN) {
        null(j, "window");
    } else {
        open(j, "window", '{');
        number(j, "since_ns", p->window_since);
        number(j, "until_ns", p->window_until);
        close(j, '}');
    }
}

static void ratio(struct json *j, double value) {
    if (value < 0) {
        null(j, "ratio");
        return;
    }
    key(j, "ratio");
    fprintf(j->out, "%.4f", value);
}

static void moment(struct json *j, const char *name, const struct vt_moment *m) {
    uint64_t idle = m->reserved_bytes - m->in_use_bytes;
    if (m->at == VT_UNKNOWN) {
        null(j, name);
        return;
    }
    open(j, name, '{');
    number(j, "at_ns", m->at);
    number(j, "reserved_bytes", m->reserved_bytes);
    number(j, "in_use_bytes", m->in_use_bytes);
    number(j, "free_bytes", idle);
    number(j, "largest_free_bytes", m->largest_free_bytes);
    number(j, "pinned_bytes", m->pinned_bytes);
    ratio(j, vt_fragmentation_ratio(idle, m->largest_free_bytes));
    close(j, '}');
}

static const char *site_name(const struct vt_process *p, uint32_t index) {
    return index == VT_NO_SITE ? NULL : p->sites[index].name;
}

static void pins(struct json *j, const struct vt_process *p, const struct vt_pin *pin,
                 uint32_t count) {
    open(j, "pins", '[');
    for (uint32_t i = 0; i < count; i++) {
        open(j, NULL, '{');
        string(j, "site", site_name(p, pin[i].site));
        number(j, "blocks", pin[i].blocks);
        number(j, "block_bytes", pin[i].block_bytes);
        number(j, "segments", pin[i].segments);
        number(j, "pinned_bytes", pin[i].pinned_bytes);
        close(j, '}');
    }
    close(j, ']');
}

/* Segments with their pieces: [offset, bytes, site], site null for what is idle. */
static void segments(struct json *j, const struct vt_process *p, const struct vt_fragmentation *f) {
    open(j, "segments", '[');
    for (uint32_t i = 0; i < f->segment_count; i++) {
        const struct vt_segment_map *s = &f->segments[i];
        open(j, NULL, '{');
        number(j, "address", s->address);
        number(j, "bytes", s->bytes);
        number(j, "in_use_bytes", s->in_use_bytes);
        number(j, "largest_free_bytes", s->largest_free_bytes);
        key(j, "pieces");
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
        close(j, '}');
    }
    close(j, ']');
    number(j, "segments_left_out", f->segments_left_out);
}

static void fragmentation(struct json *j, const struct vt_process *p,
                          const struct vt_fragmentation *f) {
    open(j, "fragmentation", '{');
    number(j, "reserved_bytes", f->reserved_bytes);
    number(j, "in_use_bytes", f->in_use_bytes);
    number(j, "free_bytes", f->free_bytes);
    number(j, "largest_free_bytes", f->largest_free_bytes);
    ratio(j, f->ratio);
    moment(j, "worst", &f->worst);
    open(j, "history", '[');
    for (uint32_t i = 0; i < f->moment_count; i++)
        moment(j, NULL, &f->moments[i]);
    close(j, ']');
    pins(j, p, f->pins, f->pin_count);
    segments(j, p, f);
    number(j, "granule_waste_estimate_bytes", f->granule_waste_bytes);
    close(j, '}');
}

static void blocks(struct json *j, const struct vt_device *d) {
    const struct vt_blocks *b = &d->blocks;
    if (!d->has_blocks) {
        null(j, "framework");
        return;
    }
    open(j, "framework", '{');
    string(j, "name", b->name);
    number(j, "live_bytes", b->live_bytes);
    number(j, "live_count", b->live_count);
    number(j, "peak_bytes", b->peak_bytes);
    number(j, "peak_at_ns", b->peak_at);
    number(j, "alloc_count", b->alloc_count);
    number(j, "free_count", b->free_count);
    number(j, "bytes_at_device_peak", b->at_peak_bytes);
    number(j, "reserved_bytes", b->reserved_bytes);
    number(j, "reserved_peak_bytes", b->reserved_peak_bytes);
    open(j, "own_counters", '{');
    number(j, "allocated_bytes", b->said_allocated);
    number(j, "reserved_bytes", b->said_reserved);
    number(j, "peak_allocated_bytes", b->said_peak_allocated);
    number(j, "mismatches", b->said_apart);
    close(j, '}');
    close(j, '}');
}

static void device(struct json *j, const struct vt_process *p, const struct vt_device *d) {
    open(j, NULL, '{');
    device_number(j, "device", d->ordinal);
    string(j, "uuid", d->uuid);
    string(j, "name", d->name);
    number(j, "total_bytes", d->total_bytes);
    number(j, "live_bytes", d->live_bytes);
    number(j, "live_count", d->live_count);
    number(j, "peak_bytes", d->peak_bytes);
    number(j, "peak_at_ns", d->peak_at);
    number(j, "allocated_bytes", d->allocated_bytes);
    number(j, "alloc_count", d->alloc_count);
    number(j, "free_count", d->free_count);
    number(j, "failed_count", d->failed_count);
    number(j, "driver_used_bytes", d->driver_used_bytes);
    number(j, "untracked_bytes", d->untracked_bytes);
    number(j, "other_processes_bytes", d->other_processes_bytes);
    fragmentation(j, p, &d->fragmentation);
    blocks(j, d);
    close(j, '}');
}

static void apart(struct json *j, const char *name, const struct vt_apart *a) {
    open(j, name, '{');
    number(j, "live_bytes", a->live_bytes);
    number(j, "live_count", a->live_count);
    number(j, "peak_bytes", a->peak_bytes);
    close(j, '}');
}

static void growth(struct json *j, const struct vt_growth *g) {
    if (!g) {
        null(j, "growth");
        return;
    }
    open(j, "growth", '{');
    string(j, "per", g->per);
    number(j, "iterations", g->iterations);
    number(j, "bytes_per_iteration", g->bytes_per_iteration);
    number(j, "since_iteration", g->since_iteration);
    number(j, "since_ns", g->since);
    number(j, "full_in_iterations", g->full_in_iterations);
    number(j, "full_in_ns", g->full_in);
    close(j, '}');
}

static void leak(struct json *j, const struct vt_process *p, const struct vt_leak *l) {
    const struct vt_frame *own =
        l->stack->own < l->stack->count ? &l->stack->frames[l->stack->own] : NULL;
    open(j, NULL, '{');
    string(j, "verdict", vt_verdict_names[l->verdict]);
    string(j, "why", l->why);
    string(j, "advice", l->advice);
    number(j, "live_bytes", l->live_bytes);
    number(j, "live_count", l->live_count);
    if (own)
        frame(j, "own_frame", own);
    else
        null(j, "own_frame");
    open(j, "sites", '[');
    for (uint32_t i = 0; i < l->site_count; i++)
        string(j, NULL, p->sites[l->sites[i]].name);
    close(j, ']');
    growth(j, l->growth);
    close(j, '}');
}

static void site(struct json *j, const struct vt_site *s, bool native) {
    static const char *const layers[] = {"driver", "framework", "host", "managed"};
    open(j, NULL, '{');
    string(j, "site", s->name);
    string(j, "verdict", vt_verdict_names[s->verdict]);
    string(j, "why", s->why);
    if (s->reachable < 0)
        null(j, "reachable");
    else
        boolean(j, "reachable", s->reachable);
    string(j, "api", s->api);
    string(j, "layer", layers[s->layer]);
    device_number(j, "device", s->device);
    number(j, "live_bytes", s->live_bytes);
    number(j, "live_count", s->live_count);
    number(j, "peak_bytes", s->peak_bytes);
    number(j, "bytes_at_peak", s->bytes_at_peak);
    number(j, "allocated_bytes", s->allocated_bytes);
    number(j, "alloc_count", s->alloc_count);
    number(j, "free_count", s->free_count);
    number(j, "first_at_ns", s->first_at);
    number(j, "last_at_ns", s->last_at);
    static const char *const classes[] = {"program", "cache", "runtime"};
    string(j, "class", s->layer == VT_LAYER_DRIVER ? classes[s->class] : NULL);
    string(j, "class_name", s->class_name);
    boolean(j, "before_window", s->before);
    stack(j, s->stack, native);
    close(j, '}');
}

static void oom(struct json *j, const struct vt_process *p, const struct vt_oom *o, bool native) {
    open(j, NULL, '{');
    number(j, "at_ns", o->at);
    device_number(j, "device", o->device);
    string(j, "outcome", o->outcome);
    string(j, "api", o->api);
    number(j, "requested_bytes", o->requested_bytes);
    number(j, "free_bytes", o->free_bytes);
    number(j, "total_bytes", o->total_bytes);
    number(j, "tracked_bytes", o->tracked_bytes);
    number(j, "cached_bytes", o->cached_bytes);
    number(j, "largest_free_bytes", o->largest_free_bytes);
    string(j, "cause", o->cause);
    string(j, "why", o->why);
    string(j, "advice", o->advice);
    open(j, "holders", '[');
    for (uint32_t i = 0; i < o->holder_count; i++)
        if (o->holders[i] != VT_NO_SITE)
            string(j, NULL, p->sites[o->holders[i]].name);
    close(j, ']');
    open(j, "holder_bytes", '[');
    for (uint32_t i = 0; i < o->holder_count; i++)
        if (o->holders[i] != VT_NO_SITE)
            number(j, NULL, o->holder_bytes[i]);
    close(j, ']');
    string(j, "allocator", o->allocator);
    number(j, "driver_requested_bytes", o->driver_requested_bytes);
    number(j, "attempts", o->attempts);
    number(j, "thread", o->thread);
    number(j, "free_said_at_ns", o->free_said_at);
    number(j, "other_processes_bytes", o->others_bytes);
    pins(j, p, o->pins, o->pin_count);
    stack(j, o->stack, native);
    close(j, '}');
}

static void process(struct json *j, const struct vt_process *p,
                    const struct vt_format_options *options) {
    open(j, NULL, '{');
    header(j, p);
    open(j, "devices", '[');
    for (uint32_t i = 0; i < p->device_count; i++)
        device(j, p, &p->devices[i]);
    close(j, ']');
    open(j, "environment", '{');
    for (uint32_t i = 0; i < p->variable_count; i++)
        string(j, p->variables[i].name, p->variables[i].value);
    close(j, '}');
    apart(j, "pinned_host", &p->pinned);
    apart(j, "managed", &p->managed);
    open(j, "leaks", '[');
    for (uint32_t i = 0; i < p->leak_count; i++)
        leak(j, p, &p->leaks[i]);
    close(j, ']');
    open(j, "sites", '[');
    uint32_t written = 0;
    for (uint32_t i = 0; i < p->site_count && (!options->top || written < options->top); i++)
        if (vt_format_site_wanted(&p->sites[i], options->site)) {
            site(j, &p->sites[i], options->native);
            written++;
        }
    close(j, ']');
    open(j, "ooms", '[');
    for (uint32_t i = 0; i < p->oom_count; i++)
        oom(j, p, &p->ooms[i], options->native);
    close(j, ']');
    number(j, "ooms_left_out", p->ooms_left_out);
    open(j, "objects", '[');
    for (uint32_t i = 0; i < p->object_count; i++) {
        const struct vt_object_life *o = &p->objects[i];
        open(j, NULL, '{');
        string(j, "kind", o->kind);
        number(j, "created", o->created);
        number(j, "destroyed", o->destroyed);
        device_number(j, "device", o->device);
        stack(j, o->stack, options->native);
        close(j, '}');
    }
    close(j, ']');
    open(j, "phases", '[');
    for (uint32_t i = 0; i < p->phase_count; i++) {
        const struct vt_phase *f = &p->phases[i];
        open(j, NULL, '{');
        string(j, "name", f->name);
        string(j, "domain", f->domain);
        boolean(j, "mark", f->mark);
        number(j, "start_ns", f->start);
        number(j, "end_ns", f->end);
        number(j, "thread", f->thread);
        number(j, "live_at_start", f->live_at_start);
        number(j, "live_at_end", f->live_at_end);
        number(j, "peak_bytes", f->peak_bytes);
        close(j, '}');
    }
    close(j, ']');
    close(j, '}');
}

int vt_fmt_json_write(const struct vt_model *model, const struct vt_format_options *options,
                      FILE *out) {
    struct json j = {.out = out, .first = true};
    open(&j, NULL, '{');
    string(&j, "schema", "vramtrace-report/1");
    open(&j, "processes", '[');
    for (uint32_t i = 0; i < model->process_count; i++)
        process(&j, &model->processes[i], options);
    close(&j, ']');
    close(&j, '}');
    fputc('\n', out);
    return 0;
}
