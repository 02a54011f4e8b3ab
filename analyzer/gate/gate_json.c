/* SPDX-License-Identifier: MIT */
/*
 * The gate's result as JSON, schema vramtrace-check/1. --stable omits keys whose values differ from
 * run to run (pids, hosts, paths of logs, times, addresses, peaks).
 */
#include "gate_formats.h"
#include "gate_words.h"
#include "base/base.h"
#include "report/report.h"

#include "vramtrace/log_format.h"
#include "vramtrace/version.h"

#include <stdlib.h>

/* Another thread's frees may come before or after the last allocation, so these differ from run to run. */
static void make_held_bytes(struct vt_key_writer *w, const char *key, const void *of) {
    vt_json_number(w->json, key, w->stable ? VT_UNKNOWN : ((const struct vt_site *)of)->held_bytes);
}

static void make_held_count(struct vt_key_writer *w, const char *key, const void *of) {
    vt_json_number(w->json, key, w->stable ? VT_UNKNOWN : ((const struct vt_site *)of)->held_count);
}

/* clang-format off */
#define OF struct vt_site
const struct vt_key vt_gate_site_keys[] = {
    VT_CHARS_KEY("site", name, "text", "the call site's id"),
    VT_TEXT_KEY("api", api, "text_or_null", "the function that allocated, as in source code"),
    VT_WORD_KEY("layer", layer, vt_layer_names, VT_LAYERS, NULL, "driver: device memory; framework: blocks inside it; host: pinned; managed"),
    VT_NUMBER_KEY("live_bytes", live_bytes, "bytes", "never freed by a call, at the end"),
    VT_NUMBER_KEY("live_count", live_count, "count", "blocks never freed by a call, at the end"),
    VT_MADE_KEY("held_bytes", make_held_bytes, "bytes_or_null", "live at the process's last allocation: more than live_bytes if much was freed at exit; null with --stable"),
    VT_MADE_KEY("held_count", make_held_count, "count_or_null", "blocks live at the process's last allocation; null with --stable"),
    VT_POINTER_KEY("tested", tested, vt_tested_keys, "what the pytest plugin said of it; null: nothing"),
    VT_OWN_FRAME_KEY(stack),
    VT_STACK_KEY(stack),
    VT_KEYS_END,
};
#undef OF
/* clang-format on */

struct writer {
    struct vt_json j;
    struct vt_key_writer rows; /* writes into `j` */
    const struct vt_gate_page *page;
    const struct vt_gate *gate;
    bool stable;
};

static char *file_of(const struct vt_process *p, const struct vt_frame *f, const char *root) {
    struct vt_gate_location location;
    vt_gate_location_of(p, f, root, &location);
    return location.file;
}

/* `number`: the finding's number within its process. */
static void finding(struct writer *w, const struct vt_gate_finding *f, uint32_t number) {
    static const char *const outcomes[] = {"failed", "tolerated", "suppressed", "accepted"};
    struct vt_json *j = &w->j;
    struct vt_gate_line line = vt_gate_line_of(w->gate, f);
    VT_SCOPED char *why = vt_gate_why(w->gate, &line, w->stable);
    vt_json_open(j, NULL, '{');
    vt_json_string(j, "outcome", outcomes[f->outcome]);
    vt_json_string(j, "kind", vt_gate_kind(f));
    vt_json_string(j, "why", why);
    vt_json_part_ordinal(j, "device", f->device);
    if (f->site) {
        vt_json_number(j, "accepted_bytes", f->accepted_bytes);
        vt_json_part_fingerprint(j, f->group);
        vt_json_string(j, "known", vt_gate_known_names[f->known]);
        if (f->rule >= 0)
            vt_json_string(j, "suppression",
                           w->gate->options->suppressions->rules[f->rule].pattern);
        else
            vt_json_null(j, "suppression");
        if (!w->stable) {
            vt_keys_object(&w->rows, "bound", vt_bound_keys, f->site->bound, 0);
            vt_json_string(j, "advice", f->leak ? f->leak->advice : NULL);
            vt_json_string(j, "kept_by", f->leak ? f->leak->kept_by : NULL);
        }
        w->rows.brief = number >= VT_KEYS_WHOLE;
        vt_keys_write(&w->rows, vt_gate_site_keys, f->site);
    } else if (!w->stable) {
        vt_json_number(j, "peak_bytes", f->amount.bytes);
    }
    vt_json_close(j, '}');
}

static void write_judged(struct writer *w, uint32_t index) {
    struct vt_json *j = &w->j;
    uint32_t written = 0;
    const struct vt_process *p = w->rows.process = &w->gate->model->processes[index];
    const struct vt_gate_process *g = &w->gate->processes[index];
    vt_json_string(j, "verdict", vt_gate_verdict(g->failed, g->open));
    if (!w->stable) {
        vt_json_string(j, "log", p->log);
        vt_json_string(j, "run_id", p->run_id);
        vt_json_number(j, "pid", p->pid);
        vt_json_string(j, "host", p->host);
    }
    vt_json_part_rank(j, "rank", p->rank);
    vt_json_strings(j, "command", p->command, p->command_count);
    vt_json_boolean(j, "python", p->python);
    vt_json_boolean(j, "simulated", p->simulated);
    vt_json_boolean(j, "complete", p->quality.complete);
    vt_json_number(j, "dropped_events", p->quality.missing);
    vt_json_string(j, "note", p->context_freed_note);
    vt_json_part_inconclusive(j, g->inconclusive.sum);
    vt_json_boolean(j, "outlier", g->outlier);
    vt_json_number(j, "leaked_bytes", g->leaked.bytes);
    vt_json_number(j, "leaked_count", g->leaked.blocks);
    for (uint32_t i = 0; vt_json_objects(j, "devices", i, p->device_count); i++) {
        const struct vt_device *d = &p->devices[i];
        vt_json_part_ordinal(j, "device", d->ordinal);
        vt_json_number(j, "live_bytes", d->live_bytes);
        if (!w->stable)
            vt_json_number(j, "peak_bytes", d->peak_bytes);
        vt_json_boolean(j, "over_budget", d->peak_bytes > w->gate->options->max_peak);
    }
    for (uint32_t i = 0; vt_json_items(j, "findings", i, w->gate->count); i++)
        if (w->gate->findings[i].process == index)
            finding(w, &w->gate->findings[i], written++);
    vt_keys_write(&w->rows, vt_stack_table_keys, p);
    vt_keys_free(&w->rows);
}

static void leak_line(struct writer *w, const struct vt_gate_message *said) {
    struct vt_json *j = &w->j;
    const struct vt_gate_line *line = said->line;
    VT_SCOPED_MAP named = {0};
    vt_json_number(j, "bytes", line->amount.bytes);
    vt_json_number(j, "blocks", line->amount.blocks);
    vt_json_number(j, "processes", line->processes);
    vt_json_part_fingerprint(j, said->worst->group);
    vt_json_string(j, "known", vt_gate_known_names[line->known]);
    vt_json_string(j, "why", said->why);
    w->rows.process = said->process;
    vt_keys_frame(&w->rows, "own_frame", vt_stack_main_frame(said->worst->site->stack));
    for (uint32_t i = 0; vt_json_items(j, "sites", i, line->count); i++) {
        const struct vt_site *site = said->worst[i].site;
        if (vt_map_get(&named, site->id) == VT_MAP_NONE)
            vt_json_string(j, NULL, site->name);
        vt_map_put(&named, site->id, i);
    }
}

/* Writes the failures of all processes by leak and line, without devices over their budget. */
static void write_failures(struct writer *w) {
    struct vt_json *j = &w->j;
    const struct vt_gate *g = w->gate;
    for (uint32_t i = 0; vt_json_items(j, "leaks", i, g->leak_count); i++) {
        const struct vt_gate_leak *leak = &g->leaks[i];
        const struct vt_gate_finding *worst = w->page->said[leak->first].worst;
        if (!worst->site)
            continue;
        vt_json_open(j, NULL, '{');
        vt_json_string(j, "kind", vt_gate_kind(worst));
        vt_json_number(j, "bytes", leak->amount.bytes);
        vt_json_number(j, "blocks", leak->amount.blocks);
        vt_json_number(j, "processes", leak->processes);
        vt_json_part_fingerprint(j, worst->group);
        vt_json_string(j, "known", vt_gate_known_names[leak->known]);
        for (uint32_t k = 0; vt_json_objects(j, "lines", k, leak->count); k++)
            leak_line(w, &w->page->said[leak->first + k]);
        vt_json_close(j, '}');
    }
}

static void rules(struct writer *w) {
    struct vt_json *j = &w->j;
    const struct vt_gate_options *o = w->gate->options;
    vt_json_open(j, "gate", '{');
    for (uint32_t i = 0; vt_json_items(j, "fail_on", i, VT_VERDICTS); i++)
        if (o->chosen && o->fails[i])
            vt_json_string(j, NULL, vt_verdict_names[i]);
    vt_json_boolean(j, "default", !o->chosen);
    vt_json_number(j, "max_leaked_bytes", o->max_leaked);
    vt_json_number(j, "max_peak_bytes", o->max_peak);
    vt_json_close(j, '}');
}

/* Writes the figures beside those of earlier runs. */
static void write_against(struct writer *w) {
    static const char *const left_out[VT_EARLIER_WHYS] = {"other_program", "unended", "incomplete",
                                                          "exceeded"};
    struct vt_json *j = &w->j;
    const struct vt_earlier *earlier = w->gate->options->earlier;
    if (!vt_json_object(j, "against", earlier))
        return;
    vt_json_number(j, "runs", earlier->runs);
    vt_json_open(j, "left_out", '{');
    for (unsigned i = 0; i < VT_EARLIER_WHYS; i++)
        vt_json_number(j, left_out[i], earlier->left_out[i]);
    vt_json_close(j, '}');
    for (unsigned m = 0; vt_json_objects(j, "figures", m, earlier->runs ? VT_GATE_MEASURES : 0);
         m++) {
        const struct vt_gate_figure *f = &w->gate->figures[m];
        vt_json_string(j, "figure", vt_gate_measure_names[m]);
        vt_json_boolean(j, "failed", f->fails);
        if (w->stable)
            continue;
        vt_json_number(j, "bytes", f->bytes);
        vt_json_number(j, "median_bytes", f->median);
        vt_json_number(j, "low_bytes", f->low);
        vt_json_number(j, "high_bytes", f->high);
        vt_json_number(j, "noise_bytes", f->noise);
        vt_json_number(j, "allowed_bytes", f->allowed);
    }
    vt_json_close(j, '}');
}

static void unused(struct writer *w) {
    struct vt_json *j = &w->j;
    const struct vt_suppressions *s = w->gate->options->suppressions;
    const struct vt_baseline *b = w->gate->options->baseline;
    for (uint32_t i = 0; vt_json_items(j, "unused_suppressions", i, s ? s->count : 0); i++) {
        if (!s->rules[i].file || s->rules[i].sites)
            continue;
        vt_json_open(j, NULL, '{');
        vt_json_string(j, "file", s->rules[i].file);
        vt_json_number(j, "line", s->rules[i].line);
        vt_json_string(j, "pattern", s->rules[i].pattern);
        vt_json_close(j, '}');
    }
    for (uint32_t i = 0; vt_json_items(j, "unseen_baseline", i, b ? b->count : 0); i++) {
        if (b->entries[i].seen)
            continue;
        vt_json_open(j, NULL, '{');
        vt_json_string(j, "file", b->path);
        vt_json_number(j, "line", b->entries[i].line);
        vt_json_string(j, "call", b->entries[i].key.call);
        vt_json_string(j, "frame", b->entries[i].key.frames[0]);
        vt_json_close(j, '}');
    }
}

void vt_gate_json_write(const struct vt_gate_page *page) {
    const struct vt_gate *gate = page->gate;
    const struct vt_gate_format_options *how = page->how;
    struct writer w = {
        .j = {.out = page->out, .first = true}, .page = page, .gate = gate, .stable = how->stable};
    struct vt_json *j = &w.j;
    w.rows = (struct vt_key_writer){
        .json = j, .stable = how->stable, .file_of = file_of, .source_root = how->source_root};
    vt_json_open(j, NULL, '{');
    vt_json_string(j, "schema", "vramtrace-check/1");
    vt_json_string(j, "version", VT_VERSION);
    vt_json_string(j, "verdict", vt_gate_verdict(gate->failed, gate->open));
    vt_json_number(j, "failures", gate->failures);
    vt_json_number(j, "leaked_bytes", gate->bytes[VT_GATE_FAILS] + gate->bytes[VT_GATE_TOLERATED]);
    vt_json_number(j, "suppressed_bytes", gate->bytes[VT_GATE_SUPPRESSED]);
    vt_json_number(j, "accepted_bytes", gate->bytes[VT_GATE_ACCEPTED]);
    vt_json_part_inconclusive(j, gate->inconclusive);
    rules(&w);
    write_against(&w);
    write_failures(&w);
    for (uint32_t i = 0; vt_json_objects(j, "processes", i, gate->model->process_count); i++)
        write_judged(&w, gate->order[i]);
    unused(&w);
    if (!how->stable) {
        vt_json_strings(j, "added", how->added, how->added_count);
        vt_json_strings(j, "left_out", how->left_out, how->left_out_count);
    }
    vt_json_close(j, '}');
    fputc('\n', page->out);
}
