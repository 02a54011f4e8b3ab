/* SPDX-License-Identifier: MIT */
/*
 * The gate's result as a document, for the text and for GitHub's step summary. Each leak appears once, with all its lines
 * and processes.
 */
#include "gate_formats.h"
#include "gate_words.h"

#include "report/report.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    CALLERS = 8,    /* frames of a stack to show */
    LEAKS = 20,     /* leaks to show in full */
    LINES = 1000,   /* rows of the table of other leaks: GitHub accepts 1 MiB per step */
    NOTES = 4,      /* notes on processes to show */
    PROCESSES = 16, /* rows of the table of processes */
    LISTED = 20,    /* rules that are unused, and entries of a baseline */
    COLUMN = 16
};

static bool single(uint64_t count) {
    return count == 1;
}

/* --- a leak --- */

static char *frame_of(const struct vt_process *p, const struct vt_frame *frame,
                      struct vt_doc *doc) {
    return vt_doc_keep(doc, vt_frame_text(p, frame, UINT_MAX));
}

static void add_callers(const struct vt_process *p, const struct vt_stack *stack,
                        struct vt_doc *doc) {
    const struct vt_frame *main_frame = vt_stack_main_frame(stack);
    uint32_t shown = 0;
    if (!main_frame)
        vt_doc_row(doc, "allocated at", "unknown: the log has no stack for this site");
    for (uint32_t i = 0; i < stack->count && shown < CALLERS; i++) {
        const struct vt_frame *f = vt_stack_frame(stack, i);
        if (f != main_frame && (!shown || !f->user_code))
            continue;
        struct vt_doc_item *place = vt_doc_add(doc, VT_DOC_PLACE, frame_of(p, f, doc));
        place->label = shown ? "called by" : "allocated at";
        if (!shown++)
            place->source = vt_doc_keep(doc, vt_frame_text_source(p, f, UINT_MAX));
    }
}

/* The processes with this leak: "8 processes, rank 0, 1, 2, ..." */
static void add_owners(const struct vt_gate_page *page, const struct vt_gate_leak *leak,
                       struct vt_doc *doc) {
    const struct vt_gate *g = page->gate;
    VT_SCOPED_STRING line = {0};
    VT_SCOPED bool *has = vt_alloc(g->model->process_count, sizeof *has);
    bool seen = false;
    if (g->model->process_count < 2)
        return;
    for (uint32_t i = leak->first; i < leak->first + leak->count; i++)
        for (uint32_t j = 0; j < g->lines[i].count; j++)
            has[g->findings[g->lines[i].first + j].process] = true;
    if (leak->processes > 1)
        vt_string_format(&line, "%u processes", leak->processes);
    for (uint32_t i = 0; i < g->model->process_count; i++) {
        const struct vt_process *p = &g->model->processes[g->order[i]];
        if (!has[g->order[i]])
            continue;
        if (leak->processes == 1) {
            vt_string_add(&line, page->names[g->order[i]]);
        } else if (p->rank >= 0) {
            vt_string_format(&line, "%s %d", seen ? "," : ", rank", p->rank);
            seen = true;
        }
    }
    vt_doc_row(doc, "in", "%s", line.text);
}

static const struct vt_doc_column line_columns[] = {
    {.title = "", .before = 2},
    {.title = "held", .before = 2, .right = true},
    {.title = "blocks", .before = 2, .right = true},
    {.title = "allocated at", .before = 2, .code = true},
    {.title = "site", .before = 2, .code = true}};
enum { LINE_COLUMNS = sizeof line_columns / sizeof *line_columns };

/* Adds a row for a source line: its bytes, its location, its largest site. */
static void add_line(const struct vt_gate *g, const struct vt_gate_line *line, struct vt_doc *doc) {
    const struct vt_gate_finding *f = &g->findings[line->first];
    const char *known = line->known ? vt_gate_known_labels[line->known] : "";
    if (f->site)
        vt_doc_cells(
            doc, known, VT_BYTES(line->amount.bytes), VT_NUMBER(line->amount.blocks),
            frame_of(&g->model->processes[f->process], vt_stack_main_frame(f->site->stack), doc),
            vt_doc_text(doc, "%.*s", (int)g->model->id_digits, f->site->name));
    else
        vt_doc_cells(doc, known, "", "",
                     vt_doc_text(doc, "%s is over its budget", VT_GPU(f->device)), "")
            ->sentence = true;
}

/* The ids of the call sites of one line. */
static void add_sites(const struct vt_gate *g, const struct vt_gate_line *line,
                      struct vt_doc *doc) {
    enum { IDS = 12 };
    VT_SCOPED_STRING ids = {0};
    uint32_t shown = 0;
    for (uint32_t i = line->first; i < line->first + line->count && shown < IDS; i++) {
        char id[20];
        snprintf(id, sizeof id, "%s%.*s", shown ? " " : "", (int)g->model->id_digits,
                 g->findings[i].site->name);
        if (ids.text && strstr(ids.text, id + (shown != 0)))
            continue;
        vt_string_add(&ids, id);
        shown++;
    }
    if (line->sites > shown)
        vt_string_format(&ids, " and %u more", line->sites - shown);
    vt_doc_row(doc, line->sites > 1 ? "sites" : "site", "%s", ids.text);
}

static void add_heading(const struct vt_gate_page *page, const struct vt_gate_leak *leak,
                        struct vt_doc *doc) {
    const struct vt_gate_message *said = &page->said[leak->first];
    if (!said->worst->site) {
        vt_doc_heading(doc, VT_STYLE_BAD, "PEAK", "%s is over its budget",
                       VT_GPU(said->worst->device));
        return;
    }
    VT_SCOPED char *amount = vt_amount_text(leak->amount), *call = vt_gate_call_text(said);
    VT_SCOPED_STRING words = {0};
    if (leak->known)
        vt_string_format(&words, "%s, ", vt_gate_known_labels[leak->known]);
    vt_string_format(&words, "%s, %s, ", vt_gate_kind(said->worst), amount);
    if (leak->count > 1)
        vt_string_format(&words, "at %u lines", leak->count);
    else
        vt_string_format(&words, "by %s", call);
    vt_doc_heading(doc, VT_STYLE_BAD, "LEAK", "%s", words.text);
}

/* Adds a leak, with its worst line in full. */
static void add_failure(const struct vt_gate_page *page, const struct vt_gate_leak *leak,
                        struct vt_doc *doc) {
    const struct vt_gate_message *said = &page->said[leak->first];
    const struct vt_gate_line *line = said->line;
    const struct vt_gate_finding *f = said->worst;
    const struct vt_leak *of = page->how->stable ? NULL : f->leak;
    add_heading(page, leak, doc);
    if (f->site)
        add_callers(said->process, f->site->stack, doc);
    if (line->sites > 1)
        vt_doc_row(doc, "", "and from %u more call site%s", line->sites - 1,
                   vt_plural(line->sites - 1));
    vt_doc_row(doc, "why", "%s%s", leak->count > 1 ? "of this line: " : "", said->why);
    if (of && of->kept_by)
        vt_doc_row(doc, of->verdict == VT_VERDICT_LOST ? "still kept by" : "kept by", "%s",
                   of->kept_by);
    if (of && of->advice)
        vt_doc_row(doc, of->advice_of_owner ? "try" : "likely", "%s", of->advice);
    add_owners(page, leak, doc);
    if (leak->count > 1)
        vt_doc_table(doc, line_columns, LINE_COLUMNS);
    for (uint32_t i = 0; i < leak->count && leak->count > 1; i++)
        add_line(page->gate, line + i, doc);
    if (f->site && leak->count == 1)
        add_sites(page->gate, line, doc);
    vt_doc_add(doc, VT_DOC_END, NULL);
}

/* Adds the leaks that are not shown in full: a row for each line. */
static void add_more(const struct vt_gate *g, uint32_t shown, struct vt_doc *doc) {
    uint64_t sum = 0;
    uint32_t first = shown < g->leak_count ? g->leaks[shown].first : g->line_count;
    if (shown == g->leak_count)
        return;
    for (uint32_t i = shown; i < g->leak_count; i++)
        if (g->findings[g->lines[g->leaks[i].first].first].site)
            sum += g->leaks[i].amount.bytes;
    vt_doc_heading(doc, VT_STYLE_BAD, "MORE", "%u more fail%s, %s", g->leak_count - shown,
                   g->leak_count - shown == 1 ? "s" : "", VT_BYTES(sum));
    vt_doc_table(doc, line_columns, LINE_COLUMNS);
    for (uint32_t i = first; i < g->line_count && i - first < LINES; i++)
        add_line(g, &g->lines[i], doc);
    if (g->line_count - first > LINES)
        vt_doc_remark(doc, "and %u more lines", g->line_count - first - LINES);
    vt_doc_add(doc, VT_DOC_END, NULL);
}

/* --- the processes --- */

/* Adds a row for each process, by rank. If not all fit, the failing ones come first. */
static void add_processes(const struct vt_gate_page *page, struct vt_doc *doc) {
    static const struct vt_doc_column columns[] = {
        {.title = "", .before = 2, .width = 6},
        {.title = "process", .before = 2, .code = true},
        {.title = "leaked", .before = 2, .right = true},
        {.title = "peak", .before = 2, .right = true},
        {.title = "", .before = 2, .words = true},
    };
    const struct vt_model *model = page->gate->model;
    uint32_t shown = 0;
    if (model->process_count < 2)
        return;
    vt_doc_heading(doc, VT_STYLE_HEAD, "PROCESSES", "%u", model->process_count);
    vt_doc_table(doc, columns, sizeof columns / sizeof *columns);
    for (uint32_t i = 0; i < model->process_count; i++) {
        uint32_t at = page->gate->order[i];
        const struct vt_gate_process *g = &page->gate->processes[at];
        bool whole = model->processes[at].quality.complete;
        if (model->process_count > PROCESSES && (!g->failed || shown >= PROCESSES))
            continue;
        shown++;
        vt_doc_cells(doc, g->failed ? "FAILED" : vt_gate_verdict(false, g->open), page->names[at],
                     VT_BYTES(g->leaked.bytes), page->how->stable ? "" : VT_BYTES(g->peak_bytes),
                     vt_doc_text(doc, "%s%s%s", whole ? "" : "log incomplete",
                                 !whole && g->outlier ? ", " : "",
                                 g->outlier ? "unlike the others" : ""));
    }
    if (shown < model->process_count)
        vt_doc_remark(doc, "and %u more", model->process_count - shown);
}

/* --- the result --- */

static void add_rest(uint32_t count, struct vt_doc *doc) {
    if (count > LISTED)
        vt_doc_row(doc, "", "and %s more", VT_NUMBER(count - LISTED));
}

/* Adds the rules that suppressed nothing, and the baseline entries that the run does not have. */
static void add_unused(const struct vt_gate *g, struct vt_doc *doc) {
    const struct vt_suppressions *s = g->options->suppressions;
    const struct vt_baseline *b = g->options->baseline;
    uint32_t count = 0;
    for (uint32_t i = 0; s && i < s->count; i++)
        if (s->rules[i].file && !s->rules[i].sites && count++ < LISTED)
            vt_doc_row(doc, "unused", "%s:%u: leak:%s", s->rules[i].file, s->rules[i].line,
                       s->rules[i].pattern);
    add_rest(count, doc);
    count = 0;
    for (uint32_t i = 0; b && i < b->count; i++)
        if (!b->entries[i].seen && count++ < LISTED)
            vt_doc_row(doc, "maybe fixed", "%s:%u: %s, %s", b->path, b->entries[i].line,
                       b->entries[i].key.call, b->entries[i].key.frames[0]);
    add_rest(count, doc);
}

static void add_outcome(const struct vt_gate *g, enum vt_gate_outcome outcome, const char *label,
                        struct vt_doc *doc) {
    if (g->counts[outcome])
        vt_doc_row(doc, label, "%s site%s, %s", VT_NUMBER(g->counts[outcome]),
                   vt_plural(g->counts[outcome]), VT_BYTES(g->bytes[outcome]));
}

static void add_passed(const struct vt_gate_page *page, struct vt_doc *doc) {
    const struct vt_gate_format_options *how = page->how;
    uint64_t accepted = page->gate->counts[VT_GATE_ACCEPTED];
    add_outcome(page->gate, VT_GATE_SUPPRESSED, "suppressed", doc);
    add_outcome(page->gate, VT_GATE_ACCEPTED, "in baseline", doc);
    add_unused(page->gate, doc);
    if (how->written)
        vt_doc_row(doc, "written", "%s: %s site%s accepted from now on", how->written,
                   VT_NUMBER(accepted), vt_plural(accepted));
    if (how->left_out_count && !how->stable)
        vt_doc_row(doc, "ignored", "%u log%s of other runs (--run all)", how->left_out_count,
                   vt_plural(how->left_out_count));
}

static void add_judged(const struct vt_gate_page *page, struct vt_doc *doc) {
    const struct vt_model *model = page->gate->model;
    const struct vt_gate_format_options *how = page->how;
    uint64_t dropped = vt_gate_dropped(page->gate);
    uint32_t incomplete = 0, running = 0, simulated = 0;
    bool unsure = false;
    for (uint32_t i = 0; i < model->process_count; i++) {
        bool runs = model->processes[i].ending.how == VT_END_RUNNING;
        running += runs;
        incomplete += !runs && !model->processes[i].quality.complete;
        simulated += model->processes[i].simulated;
        unsure |= model->processes[i].quality.missing_live > 0;
    }
    if (!model->process_count)
        return;
    vt_doc_row(doc, "judged", "%s%s",
               single(model->process_count)
                   ? page->names[0]
                   : vt_doc_text(doc, "%u processes", model->process_count),
               simulated ? ", on the simulated GPU" : "");
    if (how->stable && how->added_count)
        vt_doc_row(doc, "also judged", "%u more log%s of the same run", how->added_count,
                   vt_plural(how->added_count));
    for (uint32_t i = 0; i < how->added_count && !how->stable; i++)
        vt_doc_row(doc, "also judged", "%s: a log of the same run", how->added[i]);
    if (running)
        vt_doc_row(doc, "unfinished", "%u process%s still running; judged so far", running,
                   single(running) ? " is" : "es are");
    if (incomplete)
        vt_doc_row(doc, "incomplete", "%s; judged as far as possible",
                   single(model->process_count) ? "the log is cut off or damaged"
                                                : "some logs are cut off or damaged");
    if (dropped)
        vt_doc_row(doc, "dropped", "%s event%s not recorded: %s", VT_NUMBER(dropped),
                   single(dropped) ? " was" : "s were",
                   unsure                    ? "leaks may be missing here"
                   : page->gate->open_events ? "growth or a peak may be missing here"
                                             : "live memory at the end is known");
}

/* Adds the figures compared with earlier runs, and notes that qualify a pass. */
static void add_notes(const struct vt_gate_page *page, struct vt_doc *doc) {
    uint32_t count = page->note_count < NOTES ? page->note_count : NOTES;
    for (unsigned m = 0; m < VT_GATE_MEASURES; m++)
        if (page->figures[m])
            vt_doc_row(doc, vt_gate_measure_names[m], "%s", page->figures[m]);
    if (page->not_compared)
        vt_doc_row(doc, "NOTE", "%s", page->not_compared);
    if (page->figures[0] && page->gate->options->earlier->merged_only)
        vt_doc_row(doc, "leaks", "not compared: a merged file has no call stacks");
    for (uint32_t i = 0; i < count; i++)
        vt_doc_row(doc, "NOTE", "%s", page->notes[i]);
    if (page->note_count > count)
        vt_doc_row(doc, "", "and %u more process%s", page->note_count - count,
                   single(page->note_count - count) ? "" : "es");
}

void vt_gate_document(const struct vt_gate_page *page, struct vt_doc *doc) {
    const struct vt_gate *gate = page->gate;
    uint32_t shown = gate->leak_count < LEAKS ? gate->leak_count : LEAKS;
    doc->column = COLUMN;
    add_judged(page, doc);
    add_passed(page, doc);
    add_notes(page, doc);
    vt_doc_add(doc, VT_DOC_END, NULL);
    for (uint32_t i = 0; i < shown; i++)
        add_failure(page, &gate->leaks[i], doc);
    add_more(gate, shown, doc);
    add_processes(page, doc);
    vt_doc_add(doc, VT_DOC_END, NULL);
}
