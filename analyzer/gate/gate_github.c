/* SPDX-License-Identifier: MIT */
/*
 * The gate's result as GitHub workflow commands: an annotation at each line that fails, and the step summary
 * (Markdown, appended to the file that GITHUB_STEP_SUMMARY names). GitHub shows ten errors of a step and drops the
 * rest, so only the ten worst become annotations. The summary has all failures; without a summary, the other ones are
 * plain lines of the step's log.
 */
#include "gate_formats.h"
#include "gate_words.h"

#include "report/report.h"

#include "base/base.h"
#include "model/model.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define ANNOTATIONS 10

/* `property`: the text stands between the command's name and "::", where ':' and ',' are special. */
static void put_escaped(FILE *out, const char *s, bool property) {
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

static void annotation(const struct vt_gate_page *page, const struct vt_gate_message *said) {
    FILE *out = page->out;
    const struct vt_gate_finding *f = said->worst;
    uint32_t processes = said->line->processes;
    struct vt_gate_location location = vt_gate_message_location(page, said);
    fputs("::error ", out);
    if (location.file) {
        fputs("file=", out);
        put_escaped(out, location.file, true);
        if (location.line)
            fprintf(out, ",line=%u", location.line);
        fputc(',', out);
    }
    fprintf(out, "title=GPU memory%s %s::", f->site ? "" : " budget", vt_gate_kind(f));
    put_escaped(out, said->sentence, false);
    if (processes == 1 && page->gate->model->process_count > 1) {
        fputs(" (in ", out);
        put_escaped(out, page->names[f->process], false);
        fputc(')', out);
    } else if (processes > 1 && !f->site) {
        fprintf(out, " (in %u processes)", processes);
    }
    fputc('\n', out);
    free(location.file);
}

/* A line without an annotation goes to the step's log, in the form of a compiler message. */
static void plain_line(const struct vt_gate_page *page, const struct vt_gate_message *said) {
    struct vt_gate_location location = vt_gate_message_location(page, said);
    if (location.file && location.line)
        fprintf(page->out, "%s%s:%u: ", *location.file == ':' ? "./" : "", location.file,
                location.line);
    fprintf(page->out, "%s\n", said->sentence);
    free(location.file);
}

static void summary(const struct vt_gate_page *page) {
    const struct vt_gate *gate = page->gate;
    struct vt_doc doc = {0};
    struct vt_doc_markdown md = {0};
    fprintf(page->out, "### GPU memory leak check\n\n%s %s\n\n",
            gate->failed || gate->open ? ":x:" : ":white_check_mark:", page->headline);
    vt_gate_document(page, &doc);
    vt_doc_markdown_add(&md, &doc);
    vt_doc_markdown_end(&md);
    fprintf(page->out, "%s\n", md.text.text ? md.text.text : "");
    vt_string_free(&md.text);
    vt_doc_free(&doc);
}

/* Appends to the file that GitHub names. False if there is none, or if it cannot be written, which does not change the
 * gate's result. */
static bool write_summary(const struct vt_gate_page *page) {
    const char *path = getenv("GITHUB_STEP_SUMMARY");
    if (!path || !*path)
        return false;
    errno = 0;
    int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    int fd = open(path, flags, 0666); /* a pipe without a reader is an error */
    FILE *file = fd < 0 ? NULL : fdopen(fd, "a");
    if (file) {
        struct vt_page shown;
        struct vt_gate_page of_file = *page;
        of_file.out = vt_page_open(&shown);
        summary(&of_file);
        vt_page_close(&shown, false, file);
        fflush(file);
    }
    bool bad = !file || ferror(file);
    if (file)
        bad |= fclose(file) != 0;
    if (bad)
        vt_error("GITHUB_STEP_SUMMARY: %s: %s", path, strerror(errno));
    return !bad;
}

void vt_gate_github_write(const struct vt_gate_page *page) {
    FILE *out = page->out;
    uint32_t lines = page->gate->line_count, room = ANNOTATIONS;
    for (unsigned m = 0; m < VT_GATE_MEASURES; m++) {
        if (!page->gate->figures[m].fails)
            continue;
        fprintf(out, "::error title=GPU memory increase::%s: ", vt_gate_measure_names[m]);
        put_escaped(out, page->figures[m], false);
        fputc('\n', out);
        room--;
    }
    for (uint32_t i = 0; i < lines && i < room; i++)
        annotation(page, &page->said[i]);
    for (uint32_t i = 0; i < page->note_count && i < ANNOTATIONS; i++) { /* again at most ten */
        fputs("::notice title=GPU memory::", out);
        put_escaped(out, page->notes[i], false);
        fputc('\n', out);
    }
    fprintf(out, "leak check %s\n", page->headline);
    if (page->how->added_count)
        fprintf(out, "also judged: %u more log%s of the same run\n", page->how->added_count,
                vt_plural(page->how->added_count));
    bool summed = write_summary(page);
    uint32_t left = lines > room ? lines - room : 0;
    if (left)
        fprintf(out, "%u more line%s (GitHub shows ten annotations)%s\n", left,
                left == 1 ? " fails" : "s fail", summed ? "; the step summary lists them" : ":");
    for (uint32_t i = room; i < lines && !summed; i++)
        plain_line(page, &page->said[i]);
}
