/* SPDX-License-Identifier: MIT */
/*
 * The gate's result as SARIF 2.1.0 (OASIS), which code hosts show beside the source: a rule for each way to fail, a
 * result for each site. Suppressed and accepted sites are included and marked. Paths are relative to the source root.
 */
#include "gate_formats.h"
#include "gate_words.h"
#include "base/base.h"

#include "model/model.h"
#include "vramtrace/version.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *id, *name, *text;
} rules[] = {
    {"lost", "LostGpuMemory", "GPU memory that was live at the end with no pointer left to it."},
    {"growing", "GrowingGpuMemory",
     "GPU memory that grew over the run's iterations and would go on growing."},
    {"suspect", "SuspectGpuMemory",
     "GPU memory that rose to the end of the run; whether it would go on rising is open."},
    {"unfreed", "UnfreedGpuMemory", "GPU memory that was never freed."},
    {"peak", "PeakGpuMemory", "A process used more GPU memory than its budget."},
    {"increase", "IncreasedGpuMemory", "The run held more GPU memory than earlier runs."},
};

struct writer {
    struct vt_json j;
    const struct vt_gate_page *page;
    const struct vt_gate *gate;
    struct stack_line *lines; /* for the findings' fingerprints */
    uint32_t line_count;
};

/* A path as a URI reference, percent-encoded. Free it. */
static char *uri(const char *path) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/+@,=";
    struct vt_string s = {0};
    if (*path == '/')
        vt_string_add(&s, "file://");
    for (; *path; path++)
        vt_string_format(&s, strchr(plain, *path) ? "%c" : "%%%02X", (unsigned char)*path);
    return s.text;
}

static void text(struct vt_json *j, const char *name, const char *words) {
    vt_json_open(j, name, '{');
    vt_json_string(j, "text", words);
    vt_json_close(j, '}');
}

static void location(struct writer *w, const char *name, const struct vt_process *p,
                     const struct vt_gate_location *where) {
    struct vt_json *j = &w->j;
    vt_json_open(j, name, '{');
    if (where->file) {
        VT_SCOPED char *reference = uri(where->file);
        vt_json_open(j, "physicalLocation", '{');
        vt_json_open(j, "artifactLocation", '{');
        vt_json_string(j, "uri", reference);
        if (where->inside)
            vt_json_string(j, "uriBaseId", "SRCROOT");
        vt_json_close(j, '}');
        if (where->line) {
            vt_json_open(j, "region", '{');
            vt_json_number(j, "startLine", where->line);
            vt_json_close(j, '}');
        }
        vt_json_close(j, '}');
    }
    if (where->frame && where->frame->function) {
        vt_json_open(j, "logicalLocations", '[');
        vt_json_open(j, NULL, '{');
        vt_json_string(j, "fullyQualifiedName", where->frame->function);
        vt_json_string(j, "kind", "function");
        vt_json_close(j, '}');
        vt_json_close(j, ']');
    }
    if (where->frame) {
        VT_SCOPED char *words = vt_frame_text(p, where->frame, UINT_MAX);
        text(j, "message", words);
    }
    vt_json_close(j, '}');
}

static void write_call_stack(struct writer *w, const struct vt_process *p,
                             const struct vt_stack *s) {
    struct vt_json *j = &w->j;
    vt_json_open(j, "stacks", '[');
    vt_json_open(j, NULL, '{');
    for (uint32_t i = 0; vt_json_items(j, "frames", i, s->count); i++) {
        struct vt_gate_location where;
        if (vt_stack_frame(s, i)->interpreter)
            continue;
        vt_gate_location_of(p, vt_stack_frame(s, i), w->page->how->source_root, &where);
        vt_json_open(j, NULL, '{');
        location(w, "location", p, &where);
        if (vt_stack_frame(s, i)->module)
            vt_json_string(j, "module", vt_stack_frame(s, i)->module);
        vt_json_close(j, '}');
        free(where.file);
    }
    vt_json_close(j, '}');
    vt_json_close(j, ']');
}

/* One of the source lines whose stacks have the same key. */
struct stack_line {
    uint64_t group;
    uint32_t line;
};

static uint32_t line_number(const struct vt_gate_finding *f) {
    const struct vt_frame *frame = f->site ? vt_stack_main_frame(f->site->stack) : NULL;
    return frame ? frame->line : 0;
}

static int by_stack_line(const void *a, const void *b) {
    const struct stack_line *x = a, *y = b;
    return VT_ORDER({x->group, y->group}, {x->line, y->line});
}

/* Lists each pair of a stack key and a line once, sorted. */
static void find_stack_lines(struct writer *w) {
    uint32_t kept = 0;
    w->lines = vt_alloc(w->gate->count, sizeof *w->lines);
    for (uint32_t i = 0; i < w->gate->count; i++)
        w->lines[i] =
            (struct stack_line){w->gate->findings[i].group, line_number(&w->gate->findings[i])};
    vt_sort(w->lines, w->gate->count, sizeof *w->lines, by_stack_line);
    for (uint32_t i = 0; i < w->gate->count; i++)
        if (!i || by_stack_line(&w->lines[i], &w->lines[kept - 1]))
            w->lines[kept++] = w->lines[i];
    w->line_count = kept;
}

/* Code hosts match results of different runs by this fingerprint. It consists of the stack's key, which does not change
 * between builds, and the line's number among the leaking lines with that key. */
static void fingerprint(struct writer *w, const struct vt_gate_finding *f) {
    struct stack_line key = {f->group, line_number(f)},
                      *at = bsearch(&key, w->lines, w->line_count, sizeof key, by_stack_line);
    uint32_t before = 0;
    char text[32];
    while (at - before > w->lines && (at - before - 1)->group == f->group)
        before++;
    int length = snprintf(text, sizeof text, "%016llx", (unsigned long long)f->group);
    if (before)
        snprintf(text + length, sizeof text - (size_t)length, ":%u", before + 1);
    vt_json_open(&w->j, "partialFingerprints", '{');
    vt_json_string(&w->j, "vramtraceStack/v1", text);
    vt_json_close(&w->j, '}');
}

static void result(struct writer *w, const struct vt_gate_finding *f) {
    static const char *const levels[] = {"error", "warning", "note", "note"};
    static const char *const states[VT_GATE_KNOWNS] = {NULL, "new", "unchanged", "updated"};
    struct vt_json *j = &w->j;
    struct vt_gate_line line = vt_gate_line_of(w->gate, f);
    struct vt_gate_message said = vt_gate_message_of(w->page, &line);
    struct vt_gate_location where = vt_gate_message_location(w->page, &said);
    vt_json_open(j, NULL, '{');
    vt_json_string(j, "ruleId", vt_gate_kind(f));
    vt_json_string(j, "level", levels[f->outcome]);
    text(j, "message", said.sentence);
    vt_json_open(j, "locations", '[');
    if (where.file || where.frame)
        location(w, NULL, said.process, &where);
    vt_json_close(j, ']');
    fingerprint(w, f);
    if (f->known)
        vt_json_string(j, "baselineState", states[f->known]);
    vt_json_open(j, "suppressions", '[');
    if (f->outcome == VT_GATE_SUPPRESSED || f->outcome == VT_GATE_ACCEPTED) {
        vt_json_open(j, NULL, '{');
        vt_json_string(j, "kind", "external");
        vt_json_string(j, "justification",
                       f->rule >= 0 ? w->gate->options->suppressions->rules[f->rule].pattern
                                    : "in the baseline");
        vt_json_close(j, '}');
    }
    vt_json_close(j, ']');
    if (f->site && f->site->stack->count)
        write_call_stack(w, said.process, f->site->stack);
    vt_json_close(j, '}');
    free(where.file);
    free(said.why);
    free(said.sentence);
}

/* Writes a figure that is larger than in earlier runs. It has no source line. */
static void larger_figure(struct writer *w, unsigned measure) {
    struct vt_json *j = &w->j;
    VT_SCOPED char *words =
        vt_formatted("%s: %s", vt_gate_measure_names[measure], w->page->figures[measure]);
    vt_json_open(j, NULL, '{');
    vt_json_string(j, "ruleId", "increase");
    vt_json_string(j, "level", "error");
    text(j, "message", words);
    vt_json_open(j, "locations", '[');
    vt_json_close(j, ']');
    vt_json_close(j, '}');
}

static void tool(struct writer *w) {
    struct vt_json *j = &w->j;
    vt_json_open(j, "tool", '{');
    vt_json_open(j, "driver", '{');
    vt_json_string(j, "name", "vramtrace");
    vt_json_string(j, "version", VT_VERSION);
    vt_json_open(j, "rules", '[');
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        vt_json_open(j, NULL, '{');
        vt_json_string(j, "id", rules[i].id);
        vt_json_string(j, "name", rules[i].name);
        text(j, "shortDescription", rules[i].text);
        vt_json_close(j, '}');
    }
    vt_json_close(j, ']');
    vt_json_close(j, '}');
    vt_json_close(j, '}');
}

/* Writes the processes' notes, as notifications of the tool's run. */
static void write_notifications(struct writer *w) {
    struct vt_json *j = &w->j;
    if (!w->page->note_count)
        return;
    vt_json_open(j, "invocations", '[');
    vt_json_open(j, NULL, '{');
    vt_json_boolean(j, "executionSuccessful", !w->gate->open);
    for (uint32_t i = 0; vt_json_objects(j, "toolExecutionNotifications", i, w->page->note_count);
         i++) {
        vt_json_string(j, "level", "note");
        text(j, "message", w->page->notes[i]);
    }
    vt_json_close(j, '}');
    vt_json_close(j, ']');
}

void vt_gate_sarif_write(const struct vt_gate_page *page) {
    const struct vt_gate *gate = page->gate;
    struct writer w = {.j = {.out = page->out, .first = true}, .page = page, .gate = gate};
    struct vt_json *j = &w.j;
    const char *folder = page->how->source_root ? page->how->source_root : ".";
    VT_SCOPED char *root = realpath(folder, NULL);
    vt_json_open(j, NULL, '{');
    vt_json_string(j, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    vt_json_string(j, "version", "2.1.0");
    vt_json_open(j, "runs", '[');
    vt_json_open(j, NULL, '{');
    tool(&w);
    if (root) {
        VT_SCOPED char *path = vt_formatted("%s/", strcmp(root, "/") ? root : "");
        VT_SCOPED char *reference = uri(path);
        vt_json_open(j, "originalUriBaseIds", '{');
        vt_json_open(j, "SRCROOT", '{');
        vt_json_string(j, "uri", reference);
        vt_json_close(j, '}');
        vt_json_close(j, '}');
    }
    write_notifications(&w);
    find_stack_lines(&w);
    vt_json_open(j, "results", '[');
    for (uint32_t i = 0; i < gate->count; i++)
        result(&w, &gate->findings[i]);
    for (unsigned m = 0; m < VT_GATE_MEASURES; m++)
        if (gate->figures[m].fails)
            larger_figure(&w, m);
    vt_json_close(j, ']');
    vt_json_close(j, '}');
    vt_json_close(j, ']');
    vt_json_close(j, '}');
    fputc('\n', page->out);
    free(w.lines);
}
