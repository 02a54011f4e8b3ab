/* SPDX-License-Identifier: MIT */
/*
 * The gate's judgement as GitHub workflow commands: an annotation at the line of each leak, and the
 * step summary (Markdown, appended to the file that GITHUB_STEP_SUMMARY names). GitHub shows ten
 * errors of a step and drops the rest, so ten are written, the worst first; a place that fails in
 * many processes is one of them.
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
#define ROWS        50 /* of the summary's table */

/* `property`: between the command's name and "::", where ':' and ',' mean something. */
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
                       const struct vt_gate_finding *f, uint32_t processes, FILE *out) {
    const struct vt_process *p = &gate->model->processes[f->process];
    struct vt_gate_location location = {0};
    char *sentence = vt_gate_sentence(gate, f, options->stable);
    char *name = vt_gate_process_name(p, options->stable);
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
    if (processes > 1)
        fprintf(out, " (in %u processes)", processes);
    else if (gate->model->process_count > 1) {
        fputs(" (in ", out);
        escape(out, name, false);
        fputc(')', out);
    }
    fputc('\n', out);
    free(location.file);
    free(sentence);
    free(name);
}

/* Notices; GitHub shows ten of a step. */
static void notices(const struct vt_gate *gate, const struct vt_gate_format_options *options,
                    FILE *out) {
    uint32_t shown = 0;
    for (uint32_t i = 0; i < gate->model->process_count && shown < ANNOTATIONS; i++) {
        char *note = vt_gate_note(gate, &gate->model->processes[gate->order[i]], options->stable);
        if (note) {
            shown++;
            fputs("::notice title=GPU memory released only with its context::", out);
            escape(out, note, false);
            fputc('\n', out);
        }
        free(note);
    }
}

static void summary_row(const struct vt_gate *gate, const struct vt_gate_format_options *options,
                        uint32_t index, FILE *out) {
    const struct vt_gate_finding *f = &gate->findings[index];
    struct vt_amount sum;
    uint32_t processes = vt_gate_together(gate, index, &sum);
    const struct vt_process *p = &gate->model->processes[f->process];
    char bytes[VT_FORMAT_BYTES], blocks[VT_FORMAT_BYTES];
    char *why = vt_gate_why(gate, f, options->stable);
    char *frame_text =
        f->site ? vt_frame_text(p, vt_stack_main_frame(f->site->stack), UINT_MAX) : vt_strdup("");
    char *name = vt_gate_process_name(p, options->stable);
    fprintf(out, "| %s | %s | %s | ", vt_gate_kind(f), vt_format_bytes(sum.bytes, bytes),
            f->site ? vt_format_count(sum.blocks, blocks) : "");
    cell(out, frame_text);
    fputs(" | ", out);
    if (processes > 1)
        fprintf(out, "%u processes", processes);
    else
        cell(out, name);
    fputs(" | ", out);
    cell(out, why);
    fputs(" |\n", out);
    free(why);
    free(frame_text);
    free(name);
}

static void summary(const struct vt_gate *gate, const struct vt_gate_format_options *options,
                    FILE *out) {
    char *headline = vt_gate_headline(gate);
    uint32_t rows = 0, left = 0;
    struct vt_amount sum;
    fputs("### GPU memory leak check\n\n", out);
    fprintf(out, "%s %s\n", gate->failed ? ":x:" : ":white_check_mark:", headline);
    if (gate->failures)
        fputs("\n| verdict | held | blocks | allocated at | process | why |\n"
              "| --- | ---: | ---: | --- | --- | --- |\n",
              out);
    for (uint32_t i = 0; i < gate->failures; i++) {
        uint32_t processes = vt_gate_together(gate, i, &sum);
        if (processes && rows < ROWS) {
            rows++;
            summary_row(gate, options, i, out);
        } else {
            left += processes > 0;
        }
    }
    if (left)
        fprintf(out, "\nand %u more\n", left);
    for (uint32_t i = 0; i < gate->model->process_count; i++)
        if (gate->processes[gate->order[i]].outlier) {
            char *name =
                vt_gate_process_name(&gate->model->processes[gate->order[i]], options->stable);
            fputs("\nNot like the others: ", out);
            cell(out, name);
            fputc('\n', out);
            free(name);
        }
    for (uint32_t i = 0, shown = 0; i < gate->model->process_count && shown < ROWS; i++) {
        char *note = vt_gate_note(gate, &gate->model->processes[gate->order[i]], options->stable);
        if (note) {
            shown++;
            fputs("\nNote: ", out);
            cell(out, note);
            fputc('\n', out);
        }
        free(note);
    }
    fputc('\n', out);
    free(headline);
}

int vt_fmt_github_write(const struct vt_gate *gate, const struct vt_gate_format_options *options,
                        FILE *out) {
    const char *path = getenv("GITHUB_STEP_SUMMARY");
    uint32_t written = 0, left = 0;
    struct vt_amount sum;
    char *headline = vt_gate_headline(gate);
    for (uint32_t i = 0; i < gate->failures; i++) {
        uint32_t processes = vt_gate_together(gate, i, &sum);
        if (processes && written < ANNOTATIONS) {
            written++;
            annotation(gate, options, &gate->findings[i], processes, out);
        } else {
            left += processes > 0;
        }
    }
    notices(gate, options, out);
    fprintf(out, "leak check %s\n", headline);
    if (left)
        fprintf(out, "%u more place%s not annotated; the step summary lists %s\n", left,
                left == 1 ? " is" : "s are", left == 1 ? "it" : "them");
    free(headline);
    if (!path || !*path)
        return 0;
    /* a summary that cannot be written changes nothing about the verdict */
    errno = 0;
    FILE *file = fopen(path, "ae");
    if (file) {
        summary(gate, options, file);
        fflush(file);
    }
    bool bad = !file || ferror(file);
    if (file)
        bad |= fclose(file) != 0;
    if (bad)
        vt_error("GITHUB_STEP_SUMMARY: %s: %s", path, strerror(errno));
    return 0;
}
