/* SPDX-License-Identifier: MIT */
/*
 * The gate's judgement as GitHub workflow commands: an annotation at each line that fails, and the
 * step summary (Markdown, appended to the file that GITHUB_STEP_SUMMARY names). GitHub shows ten
 * errors of a step and drops the rest, so ten are written, the worst first. The summary has all;
 * where there is none, the others are plain lines of the step's log.
 */
#include "gate_formats.h"
#include "gate_words.h"

#include "base/base.h"
#include "model/model.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define ANNOTATIONS 10
#define ROWS        1000 /* of the summary's table: GitHub accepts 1 MiB per step */
#define NOTES       50

/* `property`: between the command's name and "::", where ':' and ',' are special. */
static void escape(FILE *out, const char *s, bool property) {
    size_t left = strlen(s);
    while (left) {
        unsigned bytes = vt_utf8_length(s, left);
        if (!bytes)
            fputs("\xef\xbf\xbd", out);
        else if (*s == '%' || *s == '\r' || *s == '\n' || (property && strchr(":,", *s)))
            fprintf(out, "%%%02X", (unsigned char)*s);
        else
            fwrite(s, 1, bytes, out);
        bytes = bytes ? bytes : 1;
        s += bytes;
        left -= bytes;
    }
}

/* A cell of a table. */
static void cell(FILE *out, const char *s) {
    for (; *s; s++) {
        if (strchr("|\\`*_<>[]&", *s))
            fputc('\\', out);
        fputc(*s == '\n' || *s == '\r' ? ' ' : *s, out);
    }
}

static void annotation(const struct vt_gate *gate, const struct vt_gate_format_options *options,
                       const struct vt_gate_line *line, FILE *out) {
    const struct vt_gate_finding *f = &gate->findings[line->first];
    const struct vt_process *p = &gate->model->processes[f->process];
    struct vt_gate_location location = {0};
    VT_SCOPED char *sentence = vt_gate_sentence(gate, line, options->stable);
    VT_SCOPED char *name = vt_gate_process_name(p, options->stable);
    if (f->site)
        vt_gate_location_find(p, f->site->stack, options->source_root, &location);
    fputs("::error ", out);
    if (location.file) {
        fputs("file=", out);
        escape(out, location.file, true);
        if (location.line)
            fprintf(out, ",line=%u", location.line);
        fputc(',', out);
    }
    fprintf(out, "title=GPU memory%s %s::", f->site ? "" : " budget", vt_gate_kind(f));
    escape(out, sentence, false);
    if (line->processes == 1 && gate->model->process_count > 1) {
        fputs(" (in ", out);
        escape(out, name, false);
        fputc(')', out);
    } else if (line->processes > 1 && !f->site) {
        fprintf(out, " (in %u processes)", line->processes);
    }
    fputc('\n', out);
    free(location.file);
}

/* Lines for which there is no annotation left go to the step's log, as compilers write them. */
static void plain_lines(const struct vt_gate *gate, const struct vt_gate_format_options *options,
                        uint32_t from, FILE *out) {
    for (uint32_t i = from; i < gate->line_count; i++) {
        const struct vt_gate_finding *f = &gate->findings[gate->lines[i].first];
        const struct vt_process *p = &gate->model->processes[f->process];
        struct vt_gate_location location = {0};
        VT_SCOPED char *sentence = vt_gate_sentence(gate, &gate->lines[i], options->stable);
        if (f->site)
            vt_gate_location_find(p, f->site->stack, options->source_root, &location);
        if (location.file && location.line)
            fprintf(out, "%s:%u: ", location.file, location.line);
        fprintf(out, "%s\n", sentence);
        free(location.file);
    }
}

/* Notices, of which GitHub shows ten per step. */
static void notices(const struct vt_gate *gate, const struct vt_gate_format_options *options,
                    FILE *out) {
    uint32_t shown = 0;
    for (uint32_t i = 0; i < gate->model->process_count && shown < ANNOTATIONS; i++) {
        VT_SCOPED char *note =
            vt_gate_note(gate, &gate->model->processes[gate->order[i]], options->stable);
        if (note) {
            shown++;
            fputs("::notice title=GPU memory::", out);
            escape(out, note, false);
            fputc('\n', out);
        }
    }
}

static void summary_row(const struct vt_gate *gate, const struct vt_gate_format_options *options,
                        const struct vt_gate_line *line, FILE *out) {
    const struct vt_gate_finding *f = &gate->findings[line->first];
    const struct vt_process *p = &gate->model->processes[f->process];
    VT_SCOPED char *why = vt_gate_why(gate, line, options->stable);
    VT_SCOPED char *frame_text =
        f->site ? vt_frame_text(p, vt_stack_main_frame(f->site->stack), UINT_MAX) : vt_strdup("");
    VT_SCOPED char *name = vt_gate_process_name(p, options->stable);
    fprintf(out, "| %s | %s | %s | ", vt_gate_kind(f), VT_BYTES(line->amount.bytes),
            f->site ? VT_NUMBER(line->amount.blocks) : "");
    cell(out, frame_text);
    fputs(" | ", out);
    if (line->processes > 1)
        fprintf(out, "%u processes", line->processes);
    else
        cell(out, name);
    fputs(" | ", out);
    cell(out, why);
    fputs(" |\n", out);
}

static void summary(const struct vt_gate *gate, const struct vt_gate_format_options *options,
                    FILE *out) {
    VT_SCOPED char *headline = vt_gate_headline(gate);
    fputs("### GPU memory leak check\n\n", out);
    fprintf(out, "%s %s\n", gate->failed || gate->open ? ":x:" : ":white_check_mark:", headline);
    if (gate->failures)
        fputs("\n| verdict | held | blocks | allocated at | process | why |\n"
              "| --- | ---: | ---: | --- | --- | --- |\n",
              out);
    for (uint32_t i = 0; i < gate->line_count && i < ROWS; i++)
        summary_row(gate, options, &gate->lines[i], out);
    if (gate->line_count > ROWS)
        fprintf(out, "\n%u more lines are in the step's log\n", gate->line_count - ROWS);
    for (uint32_t i = 0; i < gate->model->process_count; i++)
        if (gate->processes[gate->order[i]].outlier) {
            VT_SCOPED char *name =
                vt_gate_process_name(&gate->model->processes[gate->order[i]], options->stable);
            fputs("\nNot like the others: ", out);
            cell(out, name);
            fputc('\n', out);
        }
    for (uint32_t i = 0, shown = 0; i < gate->model->process_count && shown < NOTES; i++) {
        VT_SCOPED char *note =
            vt_gate_note(gate, &gate->model->processes[gate->order[i]], options->stable);
        if (note) {
            shown++;
            fputs("\nNote: ", out);
            cell(out, note);
            fputc('\n', out);
        }
    }
    fputc('\n', out);
}

/* Appends to the file that GitHub names. False if there is none or it cannot be written; the result
 * of the gate stays the same. */
static bool write_summary(const struct vt_gate *gate,
                          const struct vt_gate_format_options *options) {
    const char *path = getenv("GITHUB_STEP_SUMMARY");
    if (!path || !*path)
        return false;
    errno = 0;
    FILE *file = fopen(path, "ae");
    if (file) {
        struct vt_page page;
        summary(gate, options, vt_page_open(&page));
        vt_page_close(&page, false, file);
        fflush(file);
    }
    bool bad = !file || ferror(file);
    if (file)
        bad |= fclose(file) != 0;
    if (bad)
        vt_error("GITHUB_STEP_SUMMARY: %s: %s", path, strerror(errno));
    return !bad;
}

int vt_gate_github_write(const struct vt_gate *gate, const struct vt_gate_format_options *options,
                         FILE *to) {
    struct vt_page page;
    FILE *out = vt_page_open(&page);
    VT_SCOPED char *headline = vt_gate_headline(gate);
    for (uint32_t i = 0; i < gate->line_count && i < ANNOTATIONS; i++)
        annotation(gate, options, &gate->lines[i], out);
    notices(gate, options, out);
    fprintf(out, "leak check %s\n", headline);
    if (options->added_count)
        fprintf(out, "judged with them: %u more log%s of the same run\n", options->added_count,
                vt_plural(options->added_count));
    bool summed = write_summary(gate, options);
    uint32_t left = gate->line_count > ANNOTATIONS ? gate->line_count - ANNOTATIONS : 0;
    if (left)
        fprintf(out, "%u more line%s, past GitHub's ten annotations%s\n", left,
                left == 1 ? " fails" : "s fail", summed ? "; the step summary lists them" : ":");
    plain_lines(gate, options, summed ? ROWS : ANNOTATIONS, out);
    vt_page_close(&page, false, to);
    return 0;
}
