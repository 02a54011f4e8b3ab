/* SPDX-License-Identifier: MIT */
/*
 * A frame as JSON. The keys are documented in vramtrace-watch(1), and are stable; keys shared with the report have
 * the same meaning.
 */
#include "writers.h"

#include "report/report.h"
#include "watch_words.h"

#include <stdlib.h>

static void put_rate(struct vt_json *j, const char *name, double rate) {
    vt_json_key(j, name);
    if (isnan(rate))
        fputs("null", j->out);
    else
        fprintf(j->out, "%.0f", rate);
}

/* Writes the text and frees it. */
static void put_text(struct vt_json *j, const char *name, char *text) {
    vt_json_string(j, name, text);
    free(text);
}

/* clang-format off */
#define OF struct vt_watch_device
const struct vt_key vt_watch_device_keys[] = {
    VT_NUMBER_KEY("in_use_bytes", in_use, "bytes", "live_bytes without what caching allocators keep idle"),
    VT_NUMBER_KEY("cached_bytes", cached, "bytes", "part of live_bytes that caching allocators keep idle"),
    VT_NUMBER_KEY("free_bytes", free, "bytes_or_null", "free on the device"),
    VT_KEYS_END,
};
#undef OF

#define OF struct vt_process_figures
const struct vt_key vt_watch_process_keys[] = {
    VT_PROCESS_FIGURES(VT_FIGURE_KEY)
    VT_KEYS_END,
};
#undef OF

#define OF struct vt_watch_line
const struct vt_key vt_watch_line_keys[] = {
    VT_NUMBER_KEY("sites", sites, "count", "how many call sites it has"),
    VT_SITE_FIGURES(VT_FIGURE_KEY)
    VT_KEYS_END,
};
#undef OF
/* clang-format on */

static void put_devices(struct vt_key_writer *rows, const struct vt_watch_process *w) {
    struct vt_json *j = rows->json;
    for (uint32_t i = 0; vt_json_objects(j, "devices", i, w->process->device_count); i++) {
        const struct vt_watch_device *s = &w->devices[i];
        vt_keys_write(rows, vt_device_keys, s->device);
        vt_keys_write(rows, vt_watch_device_keys, s);
        put_rate(j, "bytes_per_second", s->rate);
    }
}

static void put_lines(struct vt_key_writer *rows, const struct vt_watch_process *w, uint32_t top) {
    struct vt_json *j = rows->json;
    vt_json_open(j, "lines", '[');
    for (uint32_t i = 0; i < w->line_count && (!top || i < top); i++) {
        const struct vt_watch_line *line = &w->lines[i];
        vt_json_open(j, NULL, '{');
        put_text(j, "where", vt_site_text(w->process, line->site, 2000));
        vt_json_string(j, "site", line->site->name);
        vt_json_string(j, "layer", vt_layer_name(line->site->layer));
        vt_json_part_ordinal(j, "device", line->site->device);
        vt_keys_write(rows, vt_watch_line_keys, line);
        vt_json_key(j, "share");
        fprintf(j->out, "%.4f", line->share);
        put_rate(j, "bytes_per_second", line->rate);
        vt_json_string(j, "verdict", line->leak ? vt_verdict_names[line->leak->verdict] : NULL);
        put_text(j, "hint", vt_watch_words_hint(w, line));
        vt_json_close(j, '}');
    }
    vt_json_close(j, ']');
}

static void put_phases(struct vt_key_writer *rows, const struct vt_watch_process *w) {
    struct vt_json *j = rows->json;
    for (uint32_t i = 0; vt_json_items(j, "open_phases", i, w->process->phase_count); i++) {
        const struct vt_phase *phase = &w->process->phases[i];
        if (phase->mark || phase->end != VT_UNKNOWN || w->state != VT_WATCH_RUNNING)
            continue;
        vt_keys_object(rows, NULL, vt_phase_keys, phase, 0);
    }
}

static void put_leaks(struct vt_key_writer *rows, const struct vt_watch_process *w) {
    struct vt_json *j = rows->json;
    for (uint32_t i = 0; vt_json_items(j, "leaks", i, w->process->leak_count); i++) {
        const struct vt_leak *leak = &w->process->leaks[i];
        if (!vt_frame_shows_leak(w->process, leak))
            continue;
        vt_json_open(j, NULL, '{');
        put_text(j, "where", vt_stack_text(w->process, leak->stack, 1000, false));
        vt_keys_write(rows, vt_leak_keys, leak);
        vt_json_close(j, '}');
    }
}

static void put_owners(struct vt_json *j, const struct vt_watch_process *w) {
    if (!vt_json_object(j, "snapshot", w->snapshot))
        return;
    vt_json_number(j, "at_ns", w->snapshot->at);
    vt_json_string(j, "why", vt_snapshot_why_names[w->snapshot->why]);
    for (uint32_t i = 0; vt_json_objects(j, "owners", i, w->owner_count); i++) {
        const struct vt_owner_group *g = &w->owners[i];
        put_text(j, "owner", vt_owner_text(w->process, &g->owner, 0));
        vt_json_string(j, "role", vt_purpose_names[g->owner.purpose]);
        vt_json_number(j, "bytes", g->bytes);
        vt_json_number(j, "count", g->count);
    }
    vt_json_number(j, "unowned_bytes", w->snapshot->unowned_bytes);
    vt_json_number(j, "unowned_count", w->snapshot->unowned_count);
    vt_json_close(j, '}');
}

static void put_process(struct vt_json *j, const struct vt_watch_process *w, uint32_t top) {
    const struct vt_process *p = w->process;
    struct vt_key_writer rows = {.json = j, .process = p};
    vt_json_open(j, NULL, '{');
    vt_json_string(j, "source", w->source);
    vt_json_string(j, "log", w->log);
    vt_json_string(j, "state", vt_watch_state_names[w->state]);
    vt_json_string(j, "message", w->message);
    vt_json_number(j, "pid", w->pid ? w->pid : VT_UNKNOWN);
    if (p) {
        vt_json_string(j, "host", p->host);
        vt_json_part_rank(j, "rank", p->rank);
        vt_json_strings(j, "command", p->command, p->command_count);
        vt_json_time(j, "started_at", p->started_at);
        vt_json_number(j, "now_ns", w->now);
        vt_json_boolean(j, "simulated", p->simulated);
        vt_json_part_ending(j, p->ending);
        vt_keys_write(&rows, vt_watch_process_keys, &w->figures);
        put_devices(&rows, w);
        vt_keys_object(&rows, "pinned_host", vt_apart_keys, &p->pinned, 0);
        vt_keys_object(&rows, "managed", vt_apart_keys, &p->managed, 0);
        put_lines(&rows, w, top);
        put_phases(&rows, w);
        vt_keys_list(&rows, "ooms", vt_oom_keys, p->ooms, p->oom_count, sizeof *p->ooms);
        put_leaks(&rows, w);
        put_owners(j, w);
        vt_json_strings(j, "notes", p->notes, p->note_count);
    }
    vt_json_close(j, '}');
}

void vt_watch_json_write(const struct vt_watch_frame *frame, uint32_t top, bool in_one_line,
                         FILE *out) {
    struct vt_json j = {.out = out, .first = true, .in_one_line = in_one_line};
    vt_json_open(&j, NULL, '{');
    vt_json_string(&j, "schema", "vramtrace-watch/1");
    vt_json_time(&j, "at", frame->at);
    for (uint32_t i = 0; vt_json_items(&j, "processes", i, frame->count); i++)
        put_process(&j, frame->processes[i], top);
    vt_json_close(&j, '}');
    fputc('\n', out);
}
