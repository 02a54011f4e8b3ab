/* SPDX-License-Identifier: MIT */
/*
 * vramtrace fit as a screen: the proof, what the run needs, where that fits, and what is not known.
 */
#include "fit.h"

#include "report/report.h"

#include <stdlib.h>
#include <string.h>

enum { CONF_LEAST = 24, CONF_MOST = 40 };

static const char *size(uint64_t bytes, char out[VT_FORMAT_BYTES]) {
    return bytes == VT_UNKNOWN ? snprintf(out, VT_FORMAT_BYTES, "?"),
           out                 : vt_format_bytes(bytes, out);
}
#define SIZE(bytes) size(bytes, (char[VT_FORMAT_BYTES]){0})

/* Whether the program would have gone on. */
static bool ends_early(const struct vt_fit *fit) {
    return fit->oom || fit->process->ending.how != VT_END_EXITED;
}

/* How far the log goes: "to its end". Free it. */
static char *how_far(const struct vt_fit *fit) {
    const struct vt_process *p = fit->process;
    if (p->ending.how == VT_END_RUNNING)
        return vt_formatted("running; up to %s", VT_DURATION(p->duration));
    if (fit->oom)
        return vt_formatted("until it ran out of memory at %s", VT_DURATION(fit->oom->at));
    if (p->ending.how == VT_END_EXITED)
        return vt_strdup("to its end");
    VT_SCOPED char *ending = vt_words_ending(p->ending, VT_ENDING_PHRASE);
    return vt_formatted("up to %s: %s", VT_DURATION(p->duration), ending);
}

static void write_head(const struct vt_text *t, const struct vt_fit *fit) {
    const struct vt_process *p = fit->process;
    VT_SCOPED_STRING command = {0};
    VT_SCOPED char *far = how_far(fit);
    VT_SCOPED char *log = vt_printable(vt_strdup(vt_basename(p->log)));
    vt_text_command(p, 60, &command);
    VT_SCOPED char *gpu = fit->device->name ? vt_printable(vt_strdup(fit->device->name))
                                            : vt_formatted("GPU %u", fit->device->ordinal);
    VT_SCOPED char *line =
        vt_formatted("%s: %s, %s; %s, %s", log, command.text ? command.text : "?", far, gpu,
                     SIZE(fit->device->total_bytes));
    vt_text_wrap(t, NULL, 0, line);
    if (fit->processes > 1)
        fprintf(t->out, "of %u processes the one that needs most; name a log for another\n",
                fit->processes);
}

static void write_proof(const struct vt_text *t, const struct vt_fit *fit) {
    double deviation;
    if (vt_fit_deviation(fit, &deviation))
        fprintf(t->out, "check: as recorded, model %s reserved, PyTorch %s (%.1f %% off)\n",
                SIZE(fit->model_reserved_bytes), SIZE(fit->recorded_reserved_bytes),
                100 * (deviation < 0 ? -deviation : deviation));
    else if (!fit->torch)
        fputs("no PyTorch allocator: by what was allocated from the driver\n", t->out);
    for (uint32_t i = 0; i < fit->scale_count; i++)
        fprintf(t->out, "scaled: %s: %u call site%s, %s at the recorded peak\n",
                fit->scales[i].text, fit->scales[i].sites, vt_plural(fit->scales[i].sites),
                SIZE(fit->scales[i].bytes_at_peak));
}

static void add_part(struct vt_string *s, uint64_t bytes, const char *what) {
    if (bytes)
        vt_string_format(s, "%s%s %s", s->length ? ", " : "", SIZE(bytes), what);
}

static void write_needs(const struct vt_text *t, const struct vt_fit *fit) {
    VT_SCOPED_STRING parts = {0};
    if (!fit->sure) {
        VT_SCOPED char *why =
            fit->to_bytes == VT_UNKNOWN
                ? vt_formatted("needs at least %s: %s, so no yes or no", SIZE(fit->from_bytes),
                               fit->why)
                : vt_formatted("needs %s to %s: %s, so no yes or no", SIZE(fit->from_bytes),
                               SIZE(fit->to_bytes), fit->why);
        fputc('\n', t->out);
        vt_text_wrap(t, NULL, 0, why);
        return;
    }
    add_part(&parts, fit->reserved_bytes, "PyTorch");
    add_part(&parts, fit->outside_bytes, fit->torch ? "outside it" : "allocated");
    add_part(&parts, fit->rounding_bytes, "to fill pages of 2 MiB (an estimate)");
    add_part(&parts, vt_known(fit->driver_bytes), "context");
    VT_SCOPED char *needs = vt_formatted("needs %s%s%s%s", SIZE(fit->needs_bytes),
                                         ends_early(fit) ? " up to there" : "",
                                         parts.length ? ": " : "", parts.length ? parts.text : "");
    fputc('\n', t->out);
    vt_text_wrap(t, NULL, 0, needs);
}

static void write_smallest(const struct vt_text *t, const struct vt_fit *fit) {
    bool asked = false;
    for (uint32_t i = 0; i < fit->row_count; i++)
        asked |= fit->rows[i].memory.card != NULL;
    if (!fit->sure || !asked)
        return;
    if (fit->process->simulated)
        fprintf(t->out, "as a guide, since kernels did not run: %s%s\n",
                fit->smallest ? "a card of " : "no usual card has so much",
                fit->smallest ? fit->smallest->name : "");
    else
        fprintf(t->out, "smallest usual card that fits: %s\n",
                fit->smallest ? fit->smallest->name : "none");
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
                     site ? ", " : "", site ? site : "", SIZE(row->missing_bytes)));
    fputs(vt_text_style(t, VT_STYLE_BAD), t->out);
    vt_text_wrap(t, NULL, column, text);
    fputs(vt_text_style(t, VT_STYLE_NONE), t->out);
}

static const char *conf_text(const struct vt_fit_row *row, const struct vt_fit *fit) {
    size_t length = strlen(fit->settings);
    if (row->recorded)
        return "as recorded";
    /* what is added to the recorded settings */
    if (length && !strncmp(row->conf, fit->settings, length) && row->conf[length] == ',')
        return row->conf + length + 1;
    return *row->conf ? row->conf : "PyTorch's defaults";
}

static bool same_memory(const struct vt_fit_row *a, const struct vt_fit_row *b) {
    return a->memory.here == b->memory.here && a->memory.bytes == b->memory.bytes &&
           a->memory.usable_bytes == b->memory.usable_bytes;
}

/* Whether a row of its device saves most, and at least a hundredth of what the first one takes. */
static bool saves_most(const struct vt_fit_row *rows, uint32_t count,
                       const struct vt_fit_row *row) {
    if (row->fits == VT_FIT_NO || rows[0].fits == VT_FIT_NO ||
        row->peak_bytes > rows[0].peak_bytes - rows[0].peak_bytes / 100)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (rows[i].fits != VT_FIT_NO && rows[i].peak_bytes < row->peak_bytes)
            return false;
    return true;
}

static void write_row(const struct vt_text *t, const struct vt_fit *fit, unsigned column,
                      const struct vt_fit_row *row, bool best) {
    uint64_t spare = vt_fit_spare(row);
    VT_SCOPED char *conf = vt_printable(vt_text_cut(conf_text(row, fit), column));
    fprintf(t->out, "  %-*s ", (int)column, conf);
    if (row->fits == VT_FIT_NO) {
        write_failure(t, fit, row, column + 3);
        return;
    }
    VT_SCOPED char *left = spare == VT_UNKNOWN || row->fits == VT_FIT_UNKNOWN
                               ? vt_strdup("")
                               : vt_formatted("+ %s", SIZE(spare));
    fprintf(t->out, "%10s %13s", SIZE(row->peak_bytes), left);
    if (row->fits == VT_FIT_YES)
        fprintf(t->out, "  %sfits%s%s", vt_text_style(t, VT_STYLE_GOOD),
                vt_text_style(t, VT_STYLE_NONE),
                ends_early(fit) ? " up to there"
                : best          ? ", saves most"
                                : "");
    else if (best)
        fputs("  saves most", t->out);
    fputc('\n', t->out);
}

/* The rows of one device, the first of `count`. */
static void write_memory(const struct vt_text *t, const struct vt_fit *fit,
                         const struct vt_fit_row *rows, uint32_t count) {
    const struct vt_fit_memory *m = &rows[0].memory;
    size_t column = CONF_LEAST;
    VT_SCOPED_STRING title = {0};
    vt_string_add(&title, m->here ? "this card" : SIZE(m->bytes));
    if (m->usable_bytes != VT_UNKNOWN && (m->here || m->card))
        vt_string_format(&title, ", %s usable", SIZE(m->usable_bytes));
    for (uint32_t i = 0; i < count; i++) {
        size_t length = strlen(conf_text(&rows[i], fit));
        column = length > column ? length : column;
    }
    column = column > CONF_MOST ? CONF_MOST : column;
    fprintf(t->out, "%s%-*s%s %10s %13s\n", vt_text_style(t, VT_STYLE_HEAD), (int)column + 2,
            title.text, vt_text_style(t, VT_STYLE_NONE), "peak", fit->sure ? "spare" : "");
    for (uint32_t i = 0; i < count; i++)
        write_row(t, fit, (unsigned)column, &rows[i], saves_most(rows, count, &rows[i]));
}

/* Of the usual cards, the next smaller one, on which it fails. */
static void write_smaller(const struct vt_text *t, const struct vt_fit *fit) {
    const struct vt_fit_row *fails = NULL;
    for (uint32_t i = 0; i < fit->row_count; i++)
        if (fit->rows[i].memory.card && fit->rows[i].fits == VT_FIT_NO &&
            (!fit->smallest || fit->rows[i].memory.bytes < fit->smallest->bytes))
            fails = &fit->rows[i];
    if (!fails)
        return;
    fprintf(t->out, "%sother cards, %s%s\n  %-8s ", vt_text_style(t, VT_STYLE_HEAD),
            conf_text(fails, fit), vt_text_style(t, VT_STYLE_NONE), fails->memory.card->name);
    write_failure(t, fit, fails, 11);
}

static void write_rows(const struct vt_text *t, const struct vt_fit *fit) {
    uint32_t count;
    bool usual = false;
    for (uint32_t i = 0; i < fit->row_count; i += count) {
        for (count = 1;
             i + count < fit->row_count && same_memory(&fit->rows[i], &fit->rows[i + count]);)
            count++;
        usual |= i && fit->rows[0].memory.here;
        if (!usual && (fit->sure || fit->rows[i].peak_bytes != VT_UNKNOWN)) {
            fputc('\n', t->out);
            write_memory(t, fit, &fit->rows[i], count);
        }
    }
    if (usual && fit->sure)
        write_smaller(t, fit);
}

static void write_unknown(const struct vt_text *t, const struct vt_fit *fit) {
    const struct vt_process *p = fit->process;
    VT_SCOPED_STRING text = {0};
    if (ends_early(fit))
        vt_string_add(&text, "what would have come after that; ");
    if (p->simulated)
        vt_string_add(&text, "since kernels did not run: sizes that depend on data, library "
                             "workspaces, the context");
    else
        vt_string_format(&text, "other inputs' sizes; %sother cards' library workspaces",
                         fit->driver_bytes == VT_UNKNOWN ? "the context's size; " : "");
    vt_text_wrap(t, "not known:", 11, text.text);
}

void vt_fit_text(const struct vt_fit *fit, bool colour, FILE *out) {
    struct vt_page page;
    struct vt_format_options options = {.colour = colour};
    struct vt_text t = {.process = fit->process,
                        .options = &options,
                        .out = vt_page_open(&page),
                        .width = VT_TEXT_WIDTH};
    write_head(&t, fit);
    write_proof(&t, fit);
    write_needs(&t, fit);
    write_smallest(&t, fit);
    write_rows(&t, fit);
    write_unknown(&t, fit);
    vt_page_close(&page, colour, out);
}
