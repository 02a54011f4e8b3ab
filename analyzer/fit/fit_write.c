/* SPDX-License-Identifier: MIT */
/*
 * vramtrace fit as a screen: the proof, what the run needs, where that fits, and what is not known; and as
 * JSON, schema vramtrace-fit/1, whose keys vramtrace-json(5) has.
 */
#include "fit.h"

#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void write_head(const struct vt_text *t, const struct vt_fit *fit) {
    VT_SCOPED_STRING command = {0};
    vt_text_command(fit->process, t->width, &command);
    VT_SCOPED char *ended = vt_ended_text(fit->process);
    VT_SCOPED char *text = vt_printable(
        vt_formatted("%s: %s, %s; GPU %u %s, %s", vt_basename(fit->process->log), command.text,
                     ended, fit->device->ordinal, fit->device->name ? fit->device->name : "",
                     fit->device->total_bytes == VT_UNKNOWN ? "size unknown"
                                                            : VT_BYTES(fit->device->total_bytes)));
    vt_text_wrap(t, NULL, 0, text);
    if (fit->processes > 1)
        fprintf(t->out, "of %u processes the one that needs most\n", fit->processes);
    VT_SCOPED char *shared = vt_formatted(
        "%u processes shared this GPU, together at most %s (sum of their peaks): the others' %s "
        "count as taken on each card",
        fit->sharers,
        VT_BYTES(fit->shared_bytes + fit->device->peak_bytes + vt_known(fit->driver_bytes)),
        VT_BYTES(fit->shared_bytes));
    if (fit->sharers > 1)
        vt_text_wrap(t, NULL, 0, shared);
    VT_SCOPED char *caught = vt_formatted(
        "it was refused memory at %s%s, and went on: on another card it may take another way",
        VT_DURATION(fit->caught_at), fit->caught > 1 ? " and later" : "");
    if (fit->caught)
        vt_text_wrap(t, NULL, 0, caught);
    if (!isnan(fit->deviation))
        fprintf(t->out, "check: as recorded, model %s reserved, PyTorch %s (%.1f %% off)\n",
                VT_BYTES(fit->model_reserved_bytes), VT_BYTES(fit->recorded_reserved_bytes),
                100 * fabs(fit->deviation));
    else if (!fit->torch)
        fputs("no PyTorch allocator: judged by what was allocated from the driver\n", t->out);
    for (uint32_t i = 0; i < fit->scale_count; i++) {
        const struct vt_fit_scale *s = &fit->scales[i];
        VT_SCOPED char *sites = vt_formatted("%u call site%s, %s at the recorded peak", s->sites,
                                             vt_plural(s->sites), VT_BYTES(s->bytes_at_peak));
        VT_SCOPED char *scaled = vt_printable(
            vt_formatted("%s: %s", s->text,
                         isnan(fit->deviation)       ? "not scaled, since events are missing"
                         : s->sites                  ? sites
                         : s->found                  ? "none: more specific ones decide"
                         : !strcmp(s->name, "batch") ? "none: inputs count as activations here"
                                                     : "none: no call site has this role"));
        vt_text_wrap(t, "scaled:", 8, scaled);
    }
    fputc('\n', t->out);
}

static void write_needs(const struct vt_text *t, const struct vt_fit *fit) {
    const struct {
        uint64_t bytes;
        const char *what;
    } parts[] = {{fit->reserved_bytes, "PyTorch"},
                 {fit->outside_bytes, fit->torch ? "outside it" : "allocated"},
                 {fit->rounding_bytes, "to fill pages of 2 MiB (an estimate)"},
                 {vt_known(fit->driver_bytes), "context"}};
    VT_SCOPED_STRING text = {0};
    bool idle = false; /* fits where not all of it would */
    for (uint32_t i = 0; i < fit->row_count; i++)
        idle |=
            fit->sure && fit->rows[i].fits && fit->rows[i].memory.usable_bytes < fit->needs_bytes;
    vt_string_format(
        &text, "%s %s%s%s", idle ? "would reserve" : "needs",
        (fit->sure ? fit->ended_early : fit->to_bytes == VT_UNKNOWN) ? "at least " : "",
        VT_BYTES(fit->sure ? fit->needs_bytes : fit->from_bytes), idle ? " if it could" : "");
    if (!fit->sure && fit->to_bytes != VT_UNKNOWN && fit->to_bytes != fit->from_bytes)
        vt_string_format(&text, " to %s", VT_BYTES(fit->to_bytes));
    if (!fit->sure)
        vt_string_format(&text, ": %s; so neither a yes nor a no", fit->why);
    for (unsigned i = 0, listed = 0; i < sizeof parts / sizeof *parts && fit->sure; i++)
        if (parts[i].bytes)
            vt_string_format(&text, "%s%s %s", listed++ ? ", " : ": ", VT_BYTES(parts[i].bytes),
                             parts[i].what);
    vt_text_wrap(t, NULL, 0, text.text);
}

/* --- rows --- */

/* "fails at step 3, train.py:41 in step: 4.20 GiB short", from a column on. */
static void write_failure(const struct vt_text *t, const struct vt_fit *fit,
                          const struct vt_fit_row *row, unsigned column) {
    enum { SITE_MOST = 44 };
    VT_SCOPED char *phase =
        row->phase ? vt_formatted("%s %u", row->phase->name, row->phase_number) : NULL;
    VT_SCOPED char *site =
        row->stack ? vt_stack_text(fit->process, row->stack, SITE_MOST, false) : NULL;
    VT_SCOPED char *text = vt_printable(
        vt_formatted("fails at %s%s%s: %s short", phase ? phase : VT_DURATION(row->failed_at),
                     site ? ", " : "", site ? site : "", VT_BYTES(row->missing_bytes)));
    fputs(vt_text_style(t, VT_STYLE_BAD), t->out);
    vt_text_wrap(t, NULL, column, text);
    fputs(vt_text_style(t, VT_STYLE_NONE), t->out);
}

static char *conf_text(const struct vt_fit_row *row) {
    enum { MOST = 60 };
    const char *conf = row->recorded ? "as recorded"
                       : *row->conf  ? row->conf
                                     : "PyTorch's defaults";
    return vt_printable(vt_formatted("%.*s%s", MOST, conf, strlen(conf) > MOST ? "..." : ""));
}

enum { CONF_COLUMN = 24 };

/* `most`: what the recorded settings take there; 0: they are no row. */
static void write_row(const struct vt_text *t, const struct vt_fit *fit,
                      const struct vt_fit_row *row, uint64_t most) {
    VT_SCOPED char *conf = conf_text(row);
    bool wide = strlen(conf) > CONF_COLUMN, bounded = row->memory.usable_bytes != VT_UNKNOWN;
    if (wide)
        fprintf(t->out, "  %s\n", conf);
    fprintf(t->out, "  %-*s ", CONF_COLUMN, wide ? "" : conf);
    if (fit->sure && !row->fits) {
        write_failure(t, fit, row, CONF_COLUMN + 3);
        return;
    }
    const char *peak = row->peak_bytes == VT_UNKNOWN ? "" : VT_BYTES(row->peak_bytes);
    VT_SCOPED char *spare =
        vt_formatted("+ %s", VT_BYTES(vt_beyond(row->memory.usable_bytes, row->peak_bytes)));
    fprintf(t->out, "%10s %13s  %s%s%s%s\n", peak, bounded && fit->sure ? spare : "",
            vt_text_style(t, row->fits ? VT_STYLE_GOOD : VT_STYLE_BAD), fit->sure ? "fits" : "",
            vt_text_style(t, VT_STYLE_NONE),
            !fit->sure                            ? ""
            : fit->ended_early                    ? " up to there"
            : row->peak_bytes < most - most / 100 ? ", saves memory"
                                                  : "");
}

static bool same_memory(const struct vt_fit_memory *a, const struct vt_fit_memory *b) {
    return a->bytes == b->bytes && a->here == b->here;
}

/* The rows of one memory. Returns how many they are. */
static uint32_t write_memory(const struct vt_text *t, const struct vt_fit *fit, uint32_t first) {
    const struct vt_fit_row *rows = &fit->rows[first];
    const struct vt_fit_memory *m = &rows->memory;
    uint32_t count = 0;
    VT_SCOPED char *usable = m->usable_bytes == m->bytes
                                 ? vt_strdup("")
                                 : vt_formatted(", %s usable", VT_BYTES(m->usable_bytes));
    VT_SCOPED char *title =
        vt_formatted("%s%s", m->here ? "this card" : VT_BYTES(m->bytes), usable);
    fprintf(t->out, "\n%s%-*s%s %10s %13s\n", vt_text_style(t, VT_STYLE_HEAD), CONF_COLUMN + 2,
            title, vt_text_style(t, VT_STYLE_NONE), rows->peak_bytes == VT_UNKNOWN ? "" : "peak",
            fit->sure ? "spare" : "");
    uint64_t most = 0;
    for (uint32_t i = 0; i < fit->row_count; i++)
        if (same_memory(&fit->rows[i].memory, m) && fit->rows[i].recorded && fit->rows[i].fits)
            most = fit->rows[i].peak_bytes;
    for (; first + count < fit->row_count && same_memory(&rows[count].memory, m); count++)
        write_row(t, fit, &rows[count], most);
    return count;
}

/* Usual cards: the smallest that fits is named above, here the next smaller one. */
static void write_smaller(const struct vt_text *t, const struct vt_fit *fit) {
    const struct vt_fit_row *fails = NULL;
    for (uint32_t i = 0; i < fit->row_count; i++)
        if (fit->rows[i].memory.card && !fit->rows[i].fits &&
            (!fit->smallest || fit->rows[i].memory.bytes < fit->smallest->memory.bytes))
            fails = &fit->rows[i];
    if (!fails || !fit->sure)
        return;
    VT_SCOPED char *conf = conf_text(fails);
    fprintf(t->out, "%sother cards, %s%s\n  %-8s ", vt_text_style(t, VT_STYLE_HEAD), conf,
            vt_text_style(t, VT_STYLE_NONE), fails->memory.card->name);
    write_failure(t, fit, fails, 11);
}

static void write_rows(const struct vt_text *t, const struct vt_fit *fit) {
    bool usual = fit->rows[0].memory.here;
    const struct vt_fit_row *least = fit->smallest;
    bool idle = least && least->memory.usable_bytes < fit->needs_bytes;
    VT_SCOPED char *conf = least && !least->recorded ? conf_text(least) : NULL;
    bool at_least = fit->ended_early && least;
    VT_SCOPED char *smallest = vt_formatted(
        "%s: %s%s%s%s%s%s%s", fit->ended_early ? "usual card" : "smallest usual card",
        at_least ? "at least " : "", least ? least->memory.card->name : "none of them",
        conf ? ", with " : "", conf ? conf : "", idle ? ", without the idle cache" : "",
        at_least ? "; the run ended early and may need more" : "",
        fit->process->simulated ? " (a guide only: kernels did not run)" : "");
    if (fit->sure && usual)
        vt_text_wrap(t, NULL, 0, smallest);
    for (uint32_t i = 0; i < fit->row_count && (!usual || fit->rows[i].memory.here) &&
                         (fit->sure || fit->rows[i].peak_bytes != VT_UNKNOWN);)
        i += write_memory(t, fit, i);
    if (usual)
        write_smaller(t, fit);
}

void vt_fit_text(const struct vt_fit *fit, bool colour, FILE *out) {
    struct vt_page page;
    struct vt_text t = {.out = vt_page_open(&page), .width = VT_TEXT_WIDTH, .colour = colour};
    write_head(&t, fit);
    write_needs(&t, fit);
    write_rows(&t, fit);
    uint64_t others =
        fit->rows[0].memory.here && fit->rows[0].memory.usable_bytes == fit->device->total_bytes
            ? vt_known(fit->device->other_processes_bytes)
            : 0;
    VT_SCOPED char *unknown = vt_formatted(
        "%s%s%s%s%s", fit->ended_early ? "what would have come after that; " : "",
        fit->process->simulated
            ? "as kernels did not run: sizes that depend on data, library workspaces, the context"
            : "other inputs' sizes; other cards' library workspaces",
        fit->process->simulated || fit->driver_bytes != VT_UNKNOWN ? "" : "; the context's size",
        others ? "; what other processes take of this card: once " : "",
        others ? VT_BYTES(others) : "");
    vt_text_wrap(&t, "not known:", 11, unknown);
    vt_page_close(&page, colour, out);
}

/* --- json --- */

static void json_row(struct vt_json *j, const struct vt_fit_row *row, bool sure) {
    vt_json_number(j, "memory_bytes", row->memory.bytes);
    vt_json_number(j, "usable_bytes", row->memory.usable_bytes);
    vt_json_boolean(j, "recorded_device", row->memory.here);
    vt_json_string(j, "conf", row->conf);
    vt_json_boolean(j, "recorded_conf", row->recorded);
    if (sure)
        vt_json_boolean(j, "fits", row->fits);
    else
        vt_json_null(j, "fits");
    vt_json_number(j, "peak_reserved_bytes", row->peak_reserved_bytes);
    vt_json_number(j, "peak_bytes", row->peak_bytes);
    if (!vt_json_object(j, "failed_at", row->failed_at != VT_UNKNOWN))
        return;
    vt_json_number(j, "at_ns", row->failed_at);
    vt_json_string(j, "phase", row->phase ? row->phase->name : NULL);
    vt_json_number(j, "phase_number", row->phase ? row->phase_number : VT_UNKNOWN);
    vt_json_string(j, "site", row->site ? row->site->name : NULL);
    vt_json_number(j, "missing_bytes", row->missing_bytes);
    vt_json_close(j, '}');
}

void vt_fit_json(const struct vt_fit *fit, FILE *out) {
    struct vt_json j = {.out = out, .first = true};
    vt_json_open(&j, NULL, '{');
    vt_json_string(&j, "schema", "vramtrace-fit/1");
    vt_json_string(&j, "log", fit->process->log);
    vt_json_number(&j, "until_ns", fit->process->duration);
    vt_json_boolean(&j, "complete", !fit->ended_early);
    vt_json_number(&j, "caught", fit->caught);
    vt_json_number(&j, "sharers", fit->sharers);
    vt_json_number(&j, "shared_bytes", fit->shared_bytes);
    vt_json_boolean(&j, "simulated", fit->process->simulated);
    vt_json_part_ordinal(&j, "device", fit->device->ordinal);
    vt_json_string(&j, "allocator", fit->torch ? "PyTorch" : NULL);
    vt_json_key(&j, "deviation");
    fprintf(out, isnan(fit->deviation) ? "null" : "%.6f", fit->deviation);
    vt_json_number(&j, "recorded_reserved_bytes", fit->recorded_reserved_bytes);
    vt_json_number(&j, "model_reserved_bytes", fit->model_reserved_bytes);
    vt_json_boolean(&j, "sure", fit->sure);
    vt_json_string(&j, "why", fit->why);
    vt_json_number(&j, "from_bytes", fit->from_bytes);
    vt_json_number(&j, "to_bytes", fit->to_bytes);
    vt_json_number(&j, "needs_bytes", fit->needs_bytes);
    vt_json_number(&j, "outside_bytes", fit->outside_bytes);
    vt_json_number(&j, "rounding_bytes", fit->rounding_bytes);
    vt_json_number(&j, "driver_bytes", fit->driver_bytes);
    vt_json_number(&j, "smallest_card_bytes",
                   fit->smallest && !fit->ended_early ? fit->smallest->memory.bytes : VT_UNKNOWN);
    for (uint32_t i = 0; vt_json_objects(&j, "scaled", i, fit->scale_count); i++) {
        vt_json_string(&j, "scale", fit->scales[i].text);
        vt_json_number(&j, "sites", fit->scales[i].sites);
        vt_json_number(&j, "bytes_at_peak", fit->scales[i].bytes_at_peak);
    }
    for (uint32_t i = 0; vt_json_objects(&j, "rows", i, fit->row_count); i++)
        json_row(&j, &fit->rows[i], fit->sure);
    vt_json_close(&j, '}');
    fputc('\n', out);
}
