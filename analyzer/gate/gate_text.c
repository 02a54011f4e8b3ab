/* SPDX-License-Identifier: MIT */
/*
 * The gate's judgement as text. What fails in several processes at the same place is shown once.
 */
#include "report/report.h"
#include "gate_formats.h"
#include "gate_words.h"

#include "vramtrace/log_format.h"

#include <stdlib.h>
#include <string.h>

#define CALLERS   8  /* frames shown of a stack */
#define PLACES    20 /* places shown */
#define NOTES     4  /* of processes */
#define PROCESSES 16 /* lines of the table of processes */

struct text {
    const struct vt_gate *gate;
    const struct vt_gate_format_options *options;
    FILE *out;
};

static const char *style(const struct text *t, const char *escape) {
    return t->options->colour ? escape : "";
}

/* Broken at blanks, `indent` columns in. */
static void wrap(const struct text *t, const char *label, unsigned indent, const char *words) {
    struct vt_format_options options = {.colour = t->options->colour};
    struct vt_text text = {.options = &options, .out = t->out};
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
        const struct vt_frame *f = &stack->frames[i];
        if (f != main_frame && (!shown || !f->user_code))
            continue;
        char *frame_text = vt_frame_text(p, f, VT_TEXT_WIDTH - 16);
        char *source = shown ? NULL : vt_frame_text_source(p, f, VT_TEXT_WIDTH - 16);
        fprintf(t->out, "%s%s\n", label, frame_text);
        if (source)
            fprintf(t->out, "                %s%s%s\n", style(t, VT_STYLE_DIM), source,
                    style(t, VT_STYLE_NONE));
        label = shown ? "                " : "  called from   ";
        shown++;
        free(frame_text);
        free(source);
    }
}

/* The processes that have the place in common: "in 8 processes: ranks 0, 1, 2, ..." */
static void owners(const struct text *t, const struct vt_gate_finding *first, uint32_t processes) {
    struct vt_string line = {0};
    bool seen = false;
    if (t->gate->model->process_count == 1)
        return;
    if (processes == 1) {
        char *name =
            vt_gate_process_name(&t->gate->model->processes[first->process], t->options->stable);
        vt_string_add(&line, name);
        free(name);
    } else {
        vt_string_format(&line, "%u processes", processes);
        for (uint32_t i = 0; i < t->gate->model->process_count; i++) {
            uint32_t process = t->gate->order[i];
            const struct vt_process *p = &t->gate->model->processes[process];
            for (uint32_t j = 0; j < t->gate->failures; j++) {
                const struct vt_gate_finding *f = &t->gate->findings[j];
                if (f->process != process || f->group != first->group || !f->site != !first->site)
                    continue;
                if (p->rank >= 0)
                    vt_string_format(&line, "%s %d", seen ? "," : ", rank", p->rank);
                seen |= p->rank >= 0;
                break;
            }
        }
    }
    wrap(t, "  in", 16, line.text);
    vt_string_free(&line);
}

/* One place that fails; false: it was shown with an earlier one. */
static bool failure(const struct text *t, uint32_t index) {
    const struct vt_gate_finding *f = &t->gate->findings[index];
    const struct vt_process *p = &t->gate->model->processes[f->process];
    struct vt_amount sum;
    uint32_t processes = vt_gate_together(t->gate, index, &sum);
    if (!processes)
        return false;
    fprintf(t->out, "\n%s%s%s  ", style(t, VT_STYLE_BAD), f->site ? "LEAK" : "PEAK",
            style(t, VT_STYLE_NONE));
    if (f->site) {
        char *call = vt_stack_key_call_text(f->site), *amount = vt_amount_text(sum);
        bool fits =
            strlen("LEAK  ,    ") + strlen(vt_gate_kind(f)) + strlen(amount) + strlen(call) <=
            VT_TEXT_WIDTH;
        fprintf(t->out, "%s, %s%s%s\n", vt_gate_kind(f), amount, fits ? "   " : "",
                fits ? call : "");
        if (!fits)
            wrap(t, "  allocated by", 16, call);
        free(call);
        free(amount);
        callers(t, p, f->site->stack);
    } else {
        fprintf(t->out, "GPU %u is over its budget\n", f->device);
    }
    char *why = vt_gate_why(t->gate, f, t->options->stable);
    wrap(t, "  why", 16, why);
    free(why);
    if (f->leak && f->leak->advice && !t->options->stable)
        wrap(t, "  likely", 16, f->leak->advice);
    owners(t, f, processes);
    if (f->site)
        fprintf(t->out, "  site          %.*s\n", (int)t->gate->model->id_digits, f->site->name);
    return true;
}

/* Rank by rank, those that fail first where not all fit. */
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
        char a[VT_FORMAT_BYTES], b[VT_FORMAT_BYTES];
        if (model->process_count > PROCESSES && (!g->failed || shown >= PROCESSES))
            continue;
        shown++;
        char *name = vt_gate_process_name(p, t->options->stable);
        fprintf(t->out, "  %-6s  %-36s  leaked %s", g->failed ? "FAILED" : "passed", name,
                vt_format_bytes(g->shown_bytes, a));
        if (!t->options->stable)
            fprintf(t->out, ", peak %s", vt_format_bytes(g->peak_bytes, b));
        fprintf(t->out, "%s%s\n", p->complete ? "" : ", log incomplete",
                g->outlier ? "  <- unlike the others" : "");
        free(name);
    }
    if (shown < model->process_count)
        fprintf(t->out, "  and %u more\n", model->process_count - shown);
}

static void passed_by(const struct text *t) {
    const struct vt_gate *g = t->gate;
    char bytes[VT_FORMAT_BYTES];
    if (g->counts[VT_GATE_SUPPRESSED])
        fprintf(t->out, "  suppressed    %llu site%s, %s\n",
                (unsigned long long)g->counts[VT_GATE_SUPPRESSED],
                g->counts[VT_GATE_SUPPRESSED] == 1 ? "" : "s",
                vt_format_bytes(g->bytes[VT_GATE_SUPPRESSED], bytes));
    if (g->counts[VT_GATE_ACCEPTED])
        fprintf(t->out, "  in baseline   %llu site%s, %s\n",
                (unsigned long long)g->counts[VT_GATE_ACCEPTED],
                g->counts[VT_GATE_ACCEPTED] == 1 ? "" : "s",
                vt_format_bytes(g->bytes[VT_GATE_ACCEPTED], bytes));
    const struct vt_suppressions *s = g->options->suppressions;
    for (uint32_t i = 0; s && i < s->count; i++)
        if (s->rules[i].file && !s->rules[i].sites)
            fprintf(t->out, "  unused        %s:%u: leak:%s\n", s->rules[i].file, s->rules[i].line,
                    s->rules[i].pattern);
    const struct vt_baseline *b = g->options->baseline;
    for (uint32_t i = 0; b && i < b->count; i++)
        if (!b->entries[i].seen)
            fprintf(t->out, "  fixed?        %s:%u: not seen: %s, %s\n", b->path,
                    b->entries[i].line, b->entries[i].key.call, b->entries[i].key.frames[0]);
    if (t->options->written)
        fprintf(t->out, "  written       %s: %llu site%s accepted from now on\n",
                t->options->written, (unsigned long long)g->counts[VT_GATE_ACCEPTED],
                g->counts[VT_GATE_ACCEPTED] == 1 ? "" : "s");
    for (uint32_t i = 0; i < t->options->left_out_count && !t->options->stable; i++)
        fprintf(t->out, "  ignored       %s: a log of another run\n", t->options->left_out[i]);
}

static void what_was_judged(const struct text *t) {
    const struct vt_model *model = t->gate->model;
    char number[VT_FORMAT_BYTES];
    uint32_t incomplete = 0, simulated = 0;
    for (uint32_t i = 0; i < model->process_count; i++) {
        incomplete += !model->processes[i].complete;
        simulated += model->processes[i].simulated;
    }
    if (!model->process_count)
        return;
    if (model->process_count == 1) {
        char *name = vt_gate_process_name(&model->processes[0], t->options->stable);
        fprintf(t->out, "  judged        %s%s\n", name, simulated ? ", on the simulated GPU" : "");
        free(name);
    } else {
        fprintf(t->out, "  judged        %u processes%s\n", model->process_count,
                simulated ? ", on the simulated GPU" : "");
    }
    if (incomplete)
        fprintf(t->out, "  incomplete    %s; judged as far as possible\n",
                model->process_count == 1 ? "the log is cut off or damaged"
                                          : "some logs are cut off or damaged");
    if (vt_gate_dropped(t->gate))
        fprintf(t->out, "  dropped       %s event%s not recorded: leaks may be missing here\n",
                vt_format_count(vt_gate_dropped(t->gate), number),
                vt_gate_dropped(t->gate) == 1 ? " is" : "s are");
}

/* A pass beside one of these says less than it seems to. */
static void notes(const struct text *t) {
    const struct vt_model *model = t->gate->model;
    uint32_t shown = 0, left = 0;
    for (uint32_t i = 0; i < model->process_count; i++) {
        char *note =
            vt_gate_note(t->gate, &model->processes[t->gate->order[i]], t->options->stable);
        if (note && shown++ < NOTES)
            wrap(t, "  NOTE", 16, note);
        else
            left += note != NULL;
        free(note);
    }
    if (left)
        fprintf(t->out, "%16sand %u more process%s\n", "", left, left == 1 ? "" : "es");
}

int vt_gate_text_write(const struct vt_gate *gate, const struct vt_gate_format_options *options,
                       FILE *out) {
    struct text t = {.gate = gate, .options = options, .out = out};
    char *headline = vt_gate_headline(gate);
    uint32_t shown = 0, left = 0;
    struct vt_amount sum;
    fprintf(out, "%sleak check %s%s\n", style(&t, gate->failed ? VT_STYLE_BAD : VT_STYLE_GOOD),
            headline, style(&t, VT_STYLE_NONE));
    free(headline);
    what_was_judged(&t);
    passed_by(&t);
    notes(&t);
    for (uint32_t i = 0; i < gate->failures; i++) {
        if (shown < PLACES)
            shown += failure(&t, i);
        else
            left += vt_gate_together(gate, i, &sum) > 0;
    }
    if (left)
        fprintf(out, "\nand %u more place%s\n", left, left == 1 ? " that fails" : "s that fail");
    processes(&t);
    return 0;
}
