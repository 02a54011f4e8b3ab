/* SPDX-License-Identifier: MIT */
/*
 * vramtrace fit as a document: the proof, the need, the cards on which that fits, and the unknowns.
 */
#include "fit.h"

#include "report/report.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A separate paragraph. */
static void add_sentence(struct vt_doc *doc, const char *label, unsigned column, char *text) {
    struct vt_doc_item *item = vt_doc_add(doc, VT_DOC_MORE, vt_doc_keep(doc, text));
    item->label = label;
    item->column = column;
}

static void add_scales(const struct vt_fit *fit, struct vt_doc *doc) {
    for (uint32_t i = 0; i < fit->scale_count; i++) {
        const struct vt_fit_scale *s = &fit->scales[i];
        VT_SCOPED char *sites = vt_formatted("%u call site%s, %s at the recorded peak", s->sites,
                                             vt_plural(s->sites), VT_BYTES(s->bytes_at_peak));
        add_sentence(doc, "scaled:", 8,
                     vt_formatted("%s: %s", s->text,
                                  isnan(fit->deviation) ? "not scaled, since events are missing"
                                  : s->sites            ? sites
                                  : s->found            ? "none: more specific ones decide"
                                  : !strcmp(s->name, "batch")
                                      ? "none: inputs count as activations here"
                                      : "none: no call site has this role"));
    }
}

static void add_head(const struct vt_fit *fit, struct vt_doc *doc) {
    const struct vt_device *d = fit->device;
    VT_SCOPED char *command = vt_command_text(fit->process);
    VT_SCOPED char *ended = vt_ended_text(fit->process);
    add_sentence(
        doc, "", 0,
        vt_formatted("%s: %s, %s; GPU %u %s, %s", vt_basename(fit->process->log), command, ended,
                     d->ordinal, d->name ? d->name : "",
                     d->total_bytes == VT_UNKNOWN ? "size unknown" : VT_BYTES(d->total_bytes)));
    if (fit->processes > 1)
        vt_doc_line(doc, "of %u processes the one that needs most", fit->processes);
    if (fit->sharers > 1)
        add_sentence(
            doc, "", 0,
            vt_formatted("%u processes shared this GPU, together at most %s (sum of their "
                         "peaks): the others' %s count as taken on each card",
                         fit->sharers,
                         VT_BYTES(fit->shared_bytes + d->peak_bytes + vt_known(fit->driver_bytes)),
                         VT_BYTES(fit->shared_bytes)));
    if (fit->caught)
        add_sentence(doc, "", 0,
                     vt_formatted("it was refused memory at %s%s, and went on: on another card it "
                                  "may take another way",
                                  VT_DURATION(fit->caught_at),
                                  fit->caught > 1 ? " and later" : ""));
    if (!isnan(fit->deviation))
        vt_doc_line(doc, "check: as recorded, model %s reserved, PyTorch %s (%.1f %% off)",
                    VT_BYTES(fit->model_reserved_bytes), VT_BYTES(fit->recorded_reserved_bytes),
                    100 * fabs(fit->deviation));
    else if (!fit->torch)
        vt_doc_line(doc, "no PyTorch allocator: judged by the allocations from the driver");
    add_scales(fit, doc);
    vt_doc_line(doc, "%s", "");
}

static void add_needs(const struct vt_fit *fit, struct vt_doc *doc) {
    const struct {
        uint64_t bytes;
        const char *what;
    } parts[] = {{fit->reserved_bytes, "PyTorch"},
                 {fit->outside_bytes, fit->torch ? "outside it" : "allocated"},
                 {fit->rounding_bytes, "to fill pages of 2 MiB (an estimate)"},
                 {vt_known(fit->driver_bytes), "context"}};
    struct vt_string text = {0};
    bool idle = false; /* fits only because other processes did not use all their memory */
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
    add_sentence(doc, "", 0, text.text);
}

/* --- rows --- */

/* "fails at step 3, train.py:41 in step: 4.20 GiB short". Free it. */
static char *failure_text(const struct vt_fit *fit, const struct vt_fit_row *row) {
    VT_SCOPED char *phase =
        row->phase ? vt_formatted("%s %u", row->phase->name, row->phase_number) : NULL;
    VT_SCOPED char *site =
        row->stack ? vt_stack_text(fit->process, row->stack, UINT_MAX, false) : NULL;
    return vt_formatted("fails at %s%s%s: %s short", phase ? phase : VT_DURATION(row->failed_at),
                        site ? ", " : "", site ? site : "", VT_BYTES(row->missing_bytes));
}

static char *conf_text(const struct vt_fit_row *row) {
    enum { MOST = 60 };
    const char *conf = row->recorded ? "as recorded"
                       : *row->conf  ? row->conf
                                     : "PyTorch's defaults";
    return vt_text_cut(conf, MOST);
}

enum { CONF_COLUMN = 24 };

/* The settings of a row; wide ones go above it. */
static const char *add_conf(const struct vt_fit_row *row, struct vt_doc *doc) {
    char *conf = vt_doc_keep(doc, conf_text(row));
    if (strlen(conf) <= CONF_COLUMN)
        return conf;
    vt_doc_add(doc, VT_DOC_MORE, conf)->column = 2;
    return "";
}

/* `most`: the need of the recorded settings there; 0: not a row. */
static void add_row(const struct vt_fit *fit, const struct vt_fit_row *row, uint64_t most,
                    struct vt_doc *doc) {
    bool bounded = row->memory.usable_bytes != VT_UNKNOWN;
    const char *peak = row->peak_bytes == VT_UNKNOWN ? "" : VT_BYTES(row->peak_bytes);
    const char *conf = add_conf(row, doc);
    if (fit->sure && !row->fits) {
        if (*conf)
            vt_doc_cells(doc, conf, "", "", "");
        struct vt_doc_item *why =
            vt_doc_add(doc, VT_DOC_MORE, vt_doc_keep(doc, failure_text(fit, row)));
        why->column = 6;
        why->style = VT_STYLE_BAD;
        return;
    }
    const char *spare =
        vt_doc_text(doc, "+ %s", VT_BYTES(vt_beyond(row->memory.usable_bytes, row->peak_bytes)));
    vt_doc_cells(doc, conf, peak, bounded && fit->sure ? spare : "",
                 !fit->sure                            ? ""
                 : fit->ended_early                    ? "fits up to there"
                 : row->peak_bytes < most - most / 100 ? "fits, saves memory"
                                                       : "fits");
}

static bool same_memory(const struct vt_fit_memory *a, const struct vt_fit_memory *b) {
    return a->bytes == b->bytes && a->here == b->here;
}

/* The rows of one memory. Returns their number. */
static uint32_t add_memory(const struct vt_fit *fit, uint32_t first, struct vt_doc *doc) {
    const struct vt_fit_row *rows = &fit->rows[first];
    const struct vt_fit_memory *m = &rows->memory;
    uint32_t count = 0;
    VT_SCOPED char *usable = m->usable_bytes == m->bytes
                                 ? vt_strdup("")
                                 : vt_formatted(", %s usable", VT_BYTES(m->usable_bytes));
    const struct vt_doc_column columns[] = {
        {"", 2, CONF_COLUMN, .words = true},
        {rows->peak_bytes == VT_UNKNOWN ? "" : "peak", 1, 10, .right = true},
        {fit->sure ? "spare" : "", 1, 13, .right = true},
        {"", 2, 0, .words = true, .style = VT_STYLE_GOOD}};
    vt_doc_heading(doc, VT_STYLE_HEAD,
                   vt_doc_text(doc, "%s%s", m->here ? "this card" : VT_BYTES(m->bytes), usable),
                   "%s", "");
    vt_doc_table(doc, columns, sizeof columns / sizeof *columns);
    uint64_t most = 0;
    for (uint32_t i = 0; i < fit->row_count; i++)
        if (same_memory(&fit->rows[i].memory, m) && fit->rows[i].recorded && fit->rows[i].fits)
            most = fit->rows[i].peak_bytes;
    for (; first + count < fit->row_count && same_memory(&rows[count].memory, m); count++)
        add_row(fit, &rows[count], most, doc);
    return count;
}

/* Common cards: the smallest that fits is named above, the next smaller one here. */
static void add_smaller(const struct vt_fit *fit, struct vt_doc *doc) {
    const struct vt_fit_row *fails = NULL;
    for (uint32_t i = 0; i < fit->row_count; i++)
        if (fit->rows[i].memory.card && !fit->rows[i].fits &&
            (!fit->smallest || fit->rows[i].memory.bytes < fit->smallest->memory.bytes))
            fails = &fit->rows[i];
    if (!fails || !fit->sure)
        return;
    VT_SCOPED char *conf = conf_text(fails);
    vt_doc_heading(doc, VT_STYLE_HEAD, vt_doc_text(doc, "other cards, %s", conf), "%s", "");
    struct vt_doc_item *row =
        vt_doc_add(doc, VT_DOC_MORE, vt_doc_keep(doc, failure_text(fit, fails)));
    row->label = vt_doc_text(doc, "  %s", fails->memory.card->name);
    row->column = 11;
    row->style = VT_STYLE_BAD;
}

static void add_smallest(const struct vt_fit *fit, struct vt_doc *doc) {
    const struct vt_fit_row *least = fit->smallest;
    bool idle = least && least->memory.usable_bytes < fit->needs_bytes;
    VT_SCOPED char *conf = least && !least->recorded ? conf_text(least) : NULL;
    bool at_least = fit->ended_early && least;
    add_sentence(
        doc, "", 0,
        vt_formatted("%s: %s%s%s%s%s%s%s", fit->ended_early ? "usual card" : "smallest usual card",
                     at_least ? "at least " : "", least ? least->memory.card->name : "none of them",
                     conf ? ", with " : "", conf ? conf : "",
                     idle ? ", without the idle cache" : "",
                     at_least ? "; the run ended early and may need more" : "",
                     fit->process->simulated ? " (a guide only: kernels did not run)" : ""));
}

void vt_fit_document(const struct vt_fit *fit, struct vt_doc *doc) {
    bool usual = fit->rows[0].memory.here;
    uint64_t others = usual && fit->rows[0].memory.usable_bytes == fit->device->total_bytes
                          ? vt_known(fit->device->other_processes_bytes)
                          : 0;
    add_head(fit, doc);
    add_needs(fit, doc);
    if (fit->sure && usual)
        add_smallest(fit, doc);
    for (uint32_t i = 0; i < fit->row_count && (!usual || fit->rows[i].memory.here) &&
                         (fit->sure || fit->rows[i].peak_bytes != VT_UNKNOWN);)
        i += add_memory(fit, i, doc);
    if (usual)
        add_smaller(fit, doc);
    vt_doc_line(doc, "%s", "");
    add_sentence(
        doc, "not known:", 11,
        vt_formatted(
            "%s%s%s%s%s", fit->ended_early ? "what would have come after that; " : "",
            fit->process->simulated ? "as kernels did not run: sizes that depend on data, library "
                                      "workspaces, the context"
                                    : "other inputs' sizes; other cards' library workspaces",
            fit->process->simulated || fit->driver_bytes != VT_UNKNOWN ? ""
                                                                       : "; the context's size",
            others ? "; what other processes take of this card: once " : "",
            others ? VT_BYTES(others) : ""));
}
