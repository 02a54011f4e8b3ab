/* SPDX-License-Identifier: MIT */
/*
 * The gate's result as text. Each leak appears once, with all its lines and processes.
 */
#include "report/report.h"
#include "gate_formats.h"
#include "gate_words.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

#define CALLERS   8  /* frames of a stack to show */
#define LEAKS     20 /* leaks to show in full */
#define NOTES     4  /* of processes */
#define PROCESSES 16 /* rows of the table of processes */
#define LISTED    20 /* rules that are unused, and entries of a baseline */

struct text {
    const struct vt_gate_page *page;
    const struct vt_gate *gate;
    const struct vt_gate_format_options *options;
    FILE *out;
};

static const char *style(const struct text *t, const char *escape) {
    return t->options->colour ? escape : "";
}

static void wrap(const struct text *t, const char *label, unsigned indent, const char *words) {
    struct vt_text text = {.out = t->out, .width = VT_TEXT_WIDTH, .colour = t->options->colour};
    vt_text_wrap(&text, label, indent, words);
}

static void callers(const struct text *t, const struct vt_process *p,
                    const struct vt_stack *stack) {
    const struct vt_frame *main_frame = vt_stack_main_frame(stack);
    const char *label = "  allocated at  ";
    uint32_t shown = 0;
    if (!main_frame)
        fprintf(t->out, "%sunknown: the log has no stack for this site\n", label);
    for (uint32_t i = 0; i < stack->count && shown < CALLERS; i++) {
        const struct vt_frame *f = vt_stack_frame(stack, i);
        if (f != main_frame && (!shown || !f->user_code))
            continue;
        VT_SCOPED char *frame_text = vt_frame_text(p, f, VT_TEXT_WIDTH - 16);
        VT_SCOPED char *source = shown ? NULL : vt_frame_text_source(p, f, VT_TEXT_WIDTH - 16);
        fprintf(t->out, "%s%s\n", label, frame_text);
        if (source)
            fprintf(t->out, "                %s%s%s\n", style(t, VT_STYLE_DIM), source,
                    style(t, VT_STYLE_NONE));
        label = "  called by     ";
        shown++;
    }
}

/* The processes with this leak: "8 processes, rank 0, 1, 2, ..." */
static void owners(const struct text *t, const struct vt_gate_leak *leak) {
    const struct vt_gate *g = t->gate;
    VT_SCOPED_STRING line = {0};
    bool *has = vt_alloc(g->model->process_count, sizeof *has), seen = false;
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
            vt_string_add(&line, t->page->names[g->order[i]]);
        } else if (p->rank >= 0) {
            vt_string_format(&line, "%s %d", seen ? "," : ", rank", p->rank);
            seen = true;
        }
    }
    if (g->model->process_count > 1)
        wrap(t, "  in", 16, line.text);
    free(has);
}

/* A row for a source line: what it holds, where it is, its largest site. */
static void line_row(const struct text *t, const char *label, const struct vt_gate_line *line) {
    const struct vt_gate_finding *f = &t->gate->findings[line->first];
    char blocks[VT_FORMAT_BYTES + 16];
    unsigned digits = t->gate->model->id_digits, width = VT_TEXT_WIDTH - 16 - 26 - digits;
    VT_SCOPED char *frame_text = vt_frame_text(&t->gate->model->processes[f->process],
                                               vt_stack_main_frame(f->site->stack), width);
    int pad = (int)width - (int)vt_frame_text_columns(frame_text);
    snprintf(blocks, sizeof blocks, "%s block%s", VT_NUMBER(line->amount.blocks),
             vt_plural(line->amount.blocks));
    fprintf(t->out, "%-16s%9s  %11s  %s%*s  %.*s\n", label, VT_BYTES(line->amount.bytes), blocks,
            frame_text, pad > 0 ? pad : 0, "", (int)digits, f->site->name);
}

/* The ids of the call sites of one line. */
static void site_ids(const struct text *t, const struct vt_gate_line *line) {
    enum { IDS = 12 };
    VT_SCOPED_STRING ids = {0};
    uint32_t shown = 0;
    for (uint32_t i = line->first; i < line->first + line->count && shown < IDS; i++) {
        char id[20];
        snprintf(id, sizeof id, "%s%.*s", shown ? " " : "", (int)t->gate->model->id_digits,
                 t->gate->findings[i].site->name);
        if (ids.text && strstr(ids.text, id + (shown != 0)))
            continue;
        vt_string_add(&ids, id);
        shown++;
    }
    if (line->sites > shown)
        vt_string_format(&ids, " and %u more", line->sites - shown);
    wrap(t, line->sites > 1 ? "  sites" : "  site", 16, ids.text);
}

static void leak_heading(const struct text *t, const struct vt_gate_leak *leak) {
    const struct vt_gate_said *said = &t->page->said[leak->first];
    VT_SCOPED char *amount = vt_amount_text(leak->amount);
    VT_SCOPED_STRING words = {0};
    if (leak->known)
        vt_string_format(&words, "%s, ", vt_gate_known_labels[leak->known]);
    vt_string_format(&words, "%s, %s", vt_gate_kind(said->worst), amount);
    if (leak->count > 1)
        vt_string_format(&words, ", at %u lines", leak->count);
    VT_SCOPED char *call = leak->count == 1 ? vt_gate_call_text(said) : NULL;
    bool fits = call && strlen("LEAK     ") + words.length + strlen(call) <= VT_TEXT_WIDTH;
    fprintf(t->out, "%s%s%s\n", words.text, fits ? "   " : "", fits ? call : "");
    if (call && !fits)
        wrap(t, "  allocated by", 16, call);
}

/* A leak, with its worst line in full. */
static void failure(const struct text *t, const struct vt_gate_leak *leak) {
    const struct vt_gate_said *said = &t->page->said[leak->first];
    const struct vt_gate_line *line = said->line;
    const struct vt_gate_finding *f = said->worst;
    fprintf(t->out, "\n%s%s%s  ", style(t, VT_STYLE_BAD), f->site ? "LEAK" : "PEAK",
            style(t, VT_STYLE_NONE));
    if (f->site) {
        leak_heading(t, leak);
        callers(t, said->process, f->site->stack);
        if (line->sites > 1)
            fprintf(t->out, "                and from %u more call site%s\n", line->sites - 1,
                    line->sites == 2 ? "" : "s");
    } else {
        fprintf(t->out, "%s is over its budget\n", VT_GPU(f->device));
    }
    VT_SCOPED_STRING words = {0};
    vt_string_format(&words, "%s%s", leak->count > 1 ? "of this line: " : "", said->why);
    wrap(t, "  why", 16, words.text);
    if (f->leak && f->leak->kept_by && !t->options->stable)
        wrap(t, f->leak->verdict == VT_VERDICT_LOST ? "  still kept by" : "  kept by", 16,
             f->leak->kept_by);
    if (f->leak && f->leak->advice && !t->options->stable)
        wrap(t, f->leak->advice_of_owner ? "  try" : "  likely", 16, f->leak->advice);
    owners(t, leak);
    for (uint32_t i = 0; i < leak->count && leak->count > 1; i++)
        line_row(t, i ? "" : "  all lines", line + i);
    if (f->site && leak->count == 1)
        site_ids(t, line);
}

/* Leaks that are not shown in full: a row for each line. */
static void more(const struct text *t, uint32_t shown) {
    const struct vt_gate *g = t->gate;
    uint64_t sum = 0;
    if (shown == g->leak_count)
        return;
    for (uint32_t i = shown; i < g->leak_count; i++)
        if (g->findings[g->lines[g->leaks[i].first].first].site)
            sum += g->leaks[i].amount.bytes;
    fprintf(t->out, "\n%sMORE%s  %u more fail%s, %s\n", style(t, VT_STYLE_BAD),
            style(t, VT_STYLE_NONE), g->leak_count - shown, g->leak_count - shown == 1 ? "s" : "",
            VT_BYTES(sum));
    for (uint32_t i = g->leaks[shown].first; i < g->line_count; i++) {
        const struct vt_gate_finding *f = &g->findings[g->lines[i].first];
        VT_SCOPED char *label =
            vt_formatted("  %s", g->lines[i].known ? vt_gate_known_labels[g->lines[i].known] : "");
        if (f->site)
            line_row(t, label, &g->lines[i]);
        else
            fprintf(t->out, "%-16s%s is over its budget\n", "", VT_GPU(f->device));
    }
}

/* A row for each process, by rank; if not all fit, the failing ones first. */
static void processes(const struct text *t) {
    const struct vt_model *model = t->gate->model;
    uint32_t shown = 0;
    if (model->process_count < 2)
        return;
    fprintf(t->out, "\n%sPROCESSES%s\n", style(t, VT_STYLE_HEAD), style(t, VT_STYLE_NONE));
    for (uint32_t i = 0; i < model->process_count; i++) {
        uint32_t at = t->gate->order[i];
        const struct vt_process *p = &model->processes[at];
        const struct vt_gate_process *g = &t->gate->processes[at];
        if (model->process_count > PROCESSES && (!g->failed || shown >= PROCESSES))
            continue;
        shown++;
        fprintf(t->out, "  %-6s  %-36s  leaked %s",
                g->failed ? "FAILED" : vt_gate_verdict(false, g->open), t->page->names[at],
                VT_BYTES(g->leaked.bytes));
        if (!t->options->stable)
            fprintf(t->out, ", peak %s", VT_BYTES(g->peak_bytes));
        fprintf(t->out, "%s%s\n", p->quality.complete ? "" : ", log incomplete",
                g->outlier ? "  <- unlike the others" : "");
    }
    if (shown < model->process_count)
        fprintf(t->out, "  and %u more\n", model->process_count - shown);
}

static void log_line(const struct text *t, const char *label, const char *path, const char *what) {
    VT_SCOPED char *shown = vt_printable(vt_strdup(path));
    fprintf(t->out, "%-16s%s: %s\n", label, shown, what);
}

static void rest(const struct text *t, uint32_t count) {
    if (count > LISTED)
        fprintf(t->out, "%16sand %s more\n", "", VT_NUMBER(count - LISTED));
}

/* Rules that suppressed nothing, and entries of the baseline that the run does not have. */
static void unused(const struct text *t) {
    const struct vt_suppressions *s = t->gate->options->suppressions;
    const struct vt_baseline *b = t->gate->options->baseline;
    uint32_t count = 0;
    for (uint32_t i = 0; s && i < s->count; i++)
        if (s->rules[i].file && !s->rules[i].sites && count++ < LISTED)
            fprintf(t->out, "  unused        %s:%u: leak:%s\n", s->rules[i].file, s->rules[i].line,
                    s->rules[i].pattern);
    rest(t, count);
    count = 0;
    for (uint32_t i = 0; b && i < b->count; i++)
        if (!b->entries[i].seen && count++ < LISTED)
            fprintf(t->out, "  maybe fixed   %s:%u: %s, %s\n", b->path, b->entries[i].line,
                    b->entries[i].key.call, b->entries[i].key.frames[0]);
    rest(t, count);
}

static void passed_by(const struct text *t) {
    const struct vt_gate *g = t->gate;
    if (g->counts[VT_GATE_SUPPRESSED])
        fprintf(t->out, "  suppressed    %llu site%s, %s\n",
                (unsigned long long)g->counts[VT_GATE_SUPPRESSED],
                vt_plural(g->counts[VT_GATE_SUPPRESSED]), VT_BYTES(g->bytes[VT_GATE_SUPPRESSED]));
    if (g->counts[VT_GATE_ACCEPTED])
        fprintf(t->out, "  in baseline   %llu site%s, %s\n",
                (unsigned long long)g->counts[VT_GATE_ACCEPTED],
                vt_plural(g->counts[VT_GATE_ACCEPTED]), VT_BYTES(g->bytes[VT_GATE_ACCEPTED]));
    unused(t);
    if (t->options->written)
        fprintf(t->out, "  written       %s: %llu site%s accepted from now on\n",
                t->options->written, (unsigned long long)g->counts[VT_GATE_ACCEPTED],
                vt_plural(g->counts[VT_GATE_ACCEPTED]));
    if (t->options->left_out_count && !t->options->stable)
        fprintf(t->out, "  ignored       %u log%s of other runs (--run all)\n",
                t->options->left_out_count, vt_plural(t->options->left_out_count));
}

static void what_was_judged(const struct text *t) {
    const struct vt_model *model = t->gate->model;
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
    if (model->process_count == 1) {
        fprintf(t->out, "  judged        %s%s\n", t->page->names[0],
                simulated ? ", on the simulated GPU" : "");
    } else {
        fprintf(t->out, "  judged        %u processes%s\n", model->process_count,
                simulated ? ", on the simulated GPU" : "");
    }
    if (t->options->stable && t->options->added_count)
        fprintf(t->out, "  also judged   %u more log%s of the same run\n", t->options->added_count,
                vt_plural(t->options->added_count));
    for (uint32_t i = 0; i < t->options->added_count && !t->options->stable; i++)
        log_line(t, "  also judged", t->options->added[i], "a log of the same run");
    if (running)
        fprintf(t->out, "  unfinished    %u process%s still running; judged so far\n", running,
                running == 1 ? " is" : "es are");
    if (incomplete)
        fprintf(t->out, "  incomplete    %s; judged as far as possible\n",
                model->process_count == 1 ? "the log is cut off or damaged"
                                          : "some logs are cut off or damaged");
    if (vt_gate_dropped(t->gate))
        fprintf(t->out, "  dropped       %s event%s not recorded: %s\n",
                VT_NUMBER(vt_gate_dropped(t->gate)),
                vt_gate_dropped(t->gate) == 1 ? " was" : "s were",
                unsure                 ? "leaks may be missing here"
                : t->gate->open_events ? "growth or a peak may be missing here"
                                       : "what was live at the end is known");
}

/* What is compared with earlier runs: what is within its limits in one line each, like what was judged. */
static void figures(const struct text *t) {
    static const char *const labels[VT_GATE_MEASURES] = {"  peak", "  held"};
    for (unsigned m = 0; m < VT_GATE_MEASURES; m++)
        if (t->page->figures[m])
            wrap(t, labels[m], 16, t->page->figures[m]);
    if (t->page->not_compared)
        wrap(t, "  NOTE", 16, t->page->not_compared);
    if (t->page->figures[0] && t->gate->options->earlier->merged_only)
        fputs("  leaks         not compared: a merged file has no call stacks\n", t->out);
}

/* Notes that limit what a pass means. */
static void print_gate_notes(const struct text *t) {
    uint32_t count = t->page->note_count, left = count > NOTES ? count - NOTES : 0;
    for (uint32_t i = 0; i < count - left; i++)
        wrap(t, "  NOTE", 16, t->page->notes[i]);
    if (left)
        fprintf(t->out, "%16sand %u more process%s\n", "", left, left == 1 ? "" : "es");
}

void vt_gate_text_write(const struct vt_gate_page *page) {
    const struct vt_gate *gate = page->gate;
    struct text t = {.page = page, .gate = gate, .options = page->how, .out = page->out};
    uint32_t shown = 0;
    fprintf(page->out, "%sleak check %s%s\n",
            style(&t, gate->failed || gate->open ? VT_STYLE_BAD : VT_STYLE_GOOD), page->headline,
            style(&t, VT_STYLE_NONE));
    what_was_judged(&t);
    passed_by(&t);
    figures(&t);
    print_gate_notes(&t);
    for (; shown < gate->leak_count && shown < LEAKS; shown++)
        failure(&t, &gate->leaks[shown]);
    more(&t, shown);
    processes(&t);
}
